// Several learners on the same data, and many orders of the same rows.

import * as api from "./api.js";
import { atLeast, atMost, brief, byId, counted, el, fill, grouped } from "./dom.js";
import { axesOf, command } from "./learn.js";
import { DASHES } from "./picture.js";
import { svgElement } from "./pen.js";
import { table } from "./separate.js";

/** The line of a learner as the picture has it. */
function sample(i) {
  const svg = svgElement("svg", { class: "sample", viewBox: "0 0 40 8", "aria-hidden": "true" });
  svg.append(svgElement("path", { d: "M0 4H40", "stroke-dasharray": DASHES[i % DASHES.length].join(" ") || undefined }));
  return svg;
}

const USUAL = ["perceptron", "averaged", "svm", "logistic"];
/** How many orders can be tried. */
const ORDERS = { least: 2, most: 200 };

/** What a margin is of. */
const KINDS = {
  "multi-class": ["all classes", "the class of each row against the strongest other"], "one-against-rest": ["each class", "the least of those of each class against the rest"],
  "kernel-one-against-rest": ["each class, kernel", "the least of those of each class against the rest, in the space of the kernel"],
  "kernel-space": ["kernel", "in the space of the kernel"], "appended-bias": ["appended bias", "the bias counts as one more coordinate"],
  "through-origin": ["no bias", "of boundaries through the origin"], "free-bias": ["free bias", "the bias does not count in the length"],
};

/** What the boundaries of several orders are, where so many runs ended without a mistake. */
function verdict(converged, count) {
  if (converged === count) return "Each of them separates the classes; the result depends on the order.";
  if (converged === 0) return "None of them separates the classes: each is the state in which its run stopped.";
  return `Those of the ${counted(converged, "run", "runs")} without a mistake separate the classes; the others are the states in which their runs stopped.`;
}

export class Compare {
  constructor(app) {
    this.app = app;
    this.clear();
    const chosen = app.state.compare.length ? app.state.compare : USUAL;
    fill(byId("compare-learners"), app.about.learners.map((learner) =>
      el("label", { class: "check", title: learner.summary }, el("input", { type: "checkbox", value: learner.name, checked: chosen.includes(learner.name) }), learner.name)));
    byId("compare-run").addEventListener("click", () => this.run());
    byId("orders-run").addEventListener("click", () => this.orders());
  }

  clear() {
    this.lines = [];
    this.base = null;
    fill(byId("compare-report"));
    fill(byId("compare-legend"));
  }

  /** Shows which learners are compared, as an address says. */
  choose(names) {
    for (const input of byId("compare-learners").querySelectorAll("input")) input.checked = names.includes(input.value);
  }

  #spec(settings) {
    const { scale, bias, classes, order, seed } = this.app.state.settings;
    const spec = { data: { source: this.app.set.id }, ...settings };
    for (const [name, value] of Object.entries({ scale, bias, classes, order, seed })) if (value !== undefined && spec[name] === undefined) spec[name] = value;
    return spec;
  }

  /** Trains each learner on all rows for its boundary, then compares their errors on held-out rows. */
  async run() {
    const { app } = this;
    const names = [...byId("compare-learners").querySelectorAll("input:checked")].map((input) => input.value);
    if (!names.length) return app.failed(new api.Failure("Choose at least one learner."));
    this.clear();
    app.setState({ compare: names, orders: 0 });
    await app.working("comparing", async (signal, hear) => {
      for (const name of names) {
        hear({ progress: { text: `learning with ${name}`, share: null } });
        try {
          const result = await api.run({ job: "train", ...this.#spec({ learner: name }) }, { signal, history: false });
          await this.#take(result, name, signal);
        } catch (error) {
          if (error.name === "AbortError") throw error;
          // One that does not suit the data is named, and the others go on.
          this.lines.push({ name, line: null, words: error.message });
        }
        this.#legend();
        app.draw();
      }
      const result = await api.run({ job: "compare", ...this.#spec({ learners: names }) }, { signal, hear });
      this.#table(result);
    });
  }

  async #take(result, name, signal) {
    const drawing = await api.drawing(result.id, signal);
    this.#takeBase(drawing);
    const { about } = drawing;
    // Planes of many features differ from learner to learner: only the first can be drawn in its own.
    const sameSpace = about.plane === "columns" && JSON.stringify(about.axes) === JSON.stringify(this.base.drawing.about.axes);
    const isDrawn = sameSpace || drawing === this.base.drawing;
    const line = isDrawn && about.final ? about.final : null;
    // Each of several classes has a score; the boundaries are where two of them are equal.
    const classes = isDrawn && !line && about.final_classes ? about.final_classes : null;
    const words = line || classes ? "" : result.no_model ? "no model, so no boundary" : name === "memoriser" ? "no boundary: it memorises rows" : about.final || about.final_classes ? "not drawn: its boundary is in another plane" : about.region ? "not drawn: its boundary is not a line" : about.plane === "columns" ? "not drawn: more classes than can be" : "not drawn: its boundary is in another plane, or no line";
    this.lines.push({ name, line, classes, words, updates: result.record.updates, error: result.record.training_error });
  }

  /** The rows are drawn as for the first learner. */
  #takeBase(drawing) {
    if (this.base) return;
    this.base = { drawing, points: { x: drawing.x, y: drawing.y, row: drawing.row, side: drawing.side } };
    this.app.describe();
  }

  #legend() {
    fill(byId("compare-legend"), this.lines.map((one, i) => el("li", { class: `ink-${i % 6}` }, el("span", { class: one.words ? "untagged" : "tag" }, one.words ? "" : `${i + 1}`), sample(i), one.name, one.words ? el("span", { class: "help" }, ` ${one.words}`) : null)));
  }

  #table({ record, command: text }) {
    const percent = (share) => (share === null || share === undefined ? "–" : `${(100 * share).toFixed(2)}\u00a0%`);
    const span = (kind, ...children) => el("span", { class: kind }, ...children);
    // Of several classes there are two margins: each says which it is.
    const kinds = [...new Set(record.learners.map((one) => one.margin.kind))];
    const several = kinds.length > 1;
    const rows = record.learners.map((one) => [
      [span("name", brief(one.label)), span("result", one.status.replaceAll("-", " "))],
      percent(one.training_error), percent(one.held_out_error),
      [span("lower", one.margin.lower === null ? "none proved" : `≥ ${atLeast(one.margin.lower)}`), span("upper", `≤ ${atMost(one.margin.upper)}`), several ? span("kind", KINDS[one.margin.kind]?.[0] ?? one.margin.kind.replaceAll("-", " ")) : null],
      grouped(one.updates)]);
    fill(byId("compare-report"),
      el("p", {}, `The held-out error is from cross-validation with ${counted(record.folds, "fold", "folds")}. Always predicting “`, brief(record.baseline.class ?? "the largest class"), `” errs on ${percent(record.baseline.error)}.`),
      table("Comparison of learners", ["learner", "training error", "held-out error", "margin γ*", "updates"], rows, "compare-table"),
      several ? el("p", { class: "help" }, `Margins of different kinds are different quantities: compare only those of one kind. ${kinds.filter((kind) => KINDS[kind]).map((kind) => `“${KINDS[kind][0]}”: ${KINDS[kind][1]}.`).join(" ")}`) : null,
      command(text));
  }

  /** The same rows in many orders: each run of the perceptron ends at another boundary. */
  async orders() {
    const { app } = this;
    const given = byId("orders").value.trim();
    const count = Number(given);
    if (!given || !Number.isInteger(count) || count < ORDERS.least || count > ORDERS.most) {
      return app.failed(new api.Failure(`“Orders” is ${given ? `${given}, but must be` : "empty: it must be"} a whole number from ${ORDERS.least} to ${ORDERS.most}.`));
    }
    this.clear();
    app.setState({ orders: count, compare: [] });
    await app.working("training in many orders", async (signal, hear) => {
      const updates = [];
      let converged = 0;
      for (let seed = 1; seed <= count; seed++) {
        hear({ progress: { text: `order ${seed} of ${count}`, share: seed / count } });
        const result = await api.run({ job: "train", ...this.#spec({ learner: "perceptron", order: "shuffle", seed }) }, { signal, history: false });
        const drawing = await api.drawing(result.id, signal);
        this.#takeBase(drawing);
        const { final = null, final_classes: classes = null, plane } = drawing.about;
        if ((final || classes) && plane === "columns") this.lines.push({ name: `seed ${seed}`, line: final, classes: final ? null : classes, order: true });
        updates.push(result.record.updates);
        converged += result.record.converged;
        app.draw();
      }
      const different = new Set(this.lines.map((one) => (one.line ?? one.classes.flat()).map((value) => value.toPrecision(9)).join()));
      fill(byId("compare-report"), el("p", { id: "orders-report" },
        `${count} orders of the same rows: between ${grouped(Math.min(...updates))} and ${grouped(Math.max(...updates))} updates, ${counted(converged, "run", "runs")} without a mistake at the end`,
        this.lines.length ? `, ${counted(different.size, this.lines[0].line ? "boundary" : "set of boundaries", this.lines[0].line ? "different boundaries" : "different sets of boundaries")}. ${verdict(converged, count)}` : `. ${verdict(converged, count)} The boundaries are not drawn: with more than two features, each lies across a plane of its own.`));
    });
  }

  scene() {
    if (!this.base) return null;
    const { about } = this.base.drawing;
    const drawn = this.lines.filter((one) => one.line || one.classes).map((one) => ({ line: one.line, classes: one.classes, ...(one.order ? { width: 1.1, opacity: 0.45 } : { dash: this.lines.indexOf(one), tag: this.lines.indexOf(one) + 1, side: (this.lines.indexOf(one) + 2) % 6, width: 2.2 }) }));
    const [lines, borders] = [drawn.filter((one) => one.line), drawn.filter((one) => one.classes)];
    return { points: this.base.points, axes: axesOf(about), flat: about.features === 1, lines, borders, past: [] };
  }

  alternative() {
    return this.lines.map((one) => one.name).join(", ");
  }
}
