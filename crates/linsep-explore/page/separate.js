// Separation: the verdict with its certificate, and the rows that prove it.

import * as api from "./api.js";
import { atLeast, atMost, brief, byId, el, fill, grouped, save, short } from "./dom.js";
import { axesOf, command, stem } from "./learn.js";
import { report } from "./report.js";

const VERDICTS = {
  complete: ["Separable", "A boundary has every row strictly on its right side. The band of the largest margin is drawn, where the bias counts as one more coordinate of θ."],
  "quasi-complete": ["Quasi-completely separable", "A boundary has no row on its wrong side, but every such boundary goes through some rows."],
  overlap: ["Not separable", "No boundary has every row on its right side. The ringed rows prove it: they cannot all be on their right sides."],
  undecided: ["Undecided", "A limit was reached before a proof was found."],
};

export class Separate {
  constructor(app) {
    this.app = app;
    this.clear();
    byId("decide").addEventListener("click", () => this.run());
  }

  clear() {
    this.result = null;
    this.drawing = null;
    fill(byId("separate-report"));
    fill(byId("separate-downloads"));
    fill(byId("separate-command"));
  }

  async run() {
    const { app } = this;
    const { classes, bias, seed } = app.state.settings;
    const spec = { job: "separate", data: { source: app.set.id } };
    if (classes?.only) spec.only = classes.only;
    if (classes?.positive) spec.positive = classes.positive;
    if (bias?.append === false) spec.bias = "none";
    else if (bias?.scale !== undefined) spec.bias_scale = bias.scale;
    if (seed !== undefined) spec.seed = seed;
    if (byId("blame").checked) spec.blame = true;
    await app.working("deciding", async (signal, hear) => {
      const result = await api.run(spec, { signal, hear });
      this.drawing = result.parts.drawing ? await api.drawing(result.id, signal) : null;
      this.result = result;
      this.#show();
      app.describe();
      app.draw();
    });
  }

  #show() {
    const { result, app } = this;
    const { record } = result;
    const several = Array.isArray(record.table);
    const [title, words] = several ? ["Each class against the rest", "Choose two classes, or one against the rest, under “Classes” on the tab Learning, to see the rows and the certificate."] : VERDICTS[record.verdict];
    const kind = several ? "" : record.verdict === "complete" ? "good" : "bad";
    fill(byId("separate-report"),
      el("p", { class: `verdict ${kind}`, id: "verdict" }, title), el("p", {}, words),
      result.missing ? el("p", { id: "missing-cells" }, "Some cells are missing; they are treated as in training.") : null,
      several ? verdicts(record.table) : this.#rows(record), several ? null : coefficients(result.coefficients),
      el("details", {}, el("summary", {}, "The whole report"), report(result.report)));
    fill(byId("separate-command"), command(result.command));
    const button = (name, label, ending) => el("button", { type: "button", class: "quiet", "data-part": name, onclick: () => app.attempt(async () => save(await api.part(result.id, name), `${stem(app.set.name)}.${ending}`)) }, label);
    fill(byId("separate-downloads"), result.parts.certificate ? button("certificate", "Certificate", "cert") : null,
      result.parts.drawing ? el("button", { type: "button", class: "quiet", "data-part": "picture", onclick: () => app.savePicture() }, "Picture (SVG)") : null);
  }

  /** The rows that the verdict rests on. */
  #rows(record) {
    const list = record.verdict === "complete" ? record.closest_rows : record.witness_rows;
    const parts = [];
    if (record.verdict === "complete") {
      parts.push(el("p", {}, `The best margin γ* is between ${atLeast(record.margin.lower)} and ${atMost(record.margin.upper)}.`));
    }
    if (list?.length) {
      const value = record.verdict === "complete" ? "distance" : "share";
      const shown = (row) => (value === "share" ? `${(100 * row.share).toFixed(2)} %` : atLeast(row.distance));
      parts.push(table(record.verdict === "complete" ? "Rows nearest to the boundary" : "Conflicting rows", ["line", "class", value], list.slice(0, 20).map((row) => [grouped(row.line), row.label, shown(row)]), "witness-rows"));
    }
    if (record.blame) {
      const count = record.blame.rows.length;
      // With counts of rows it is their sum that is least.
      const { weight, at_least: least, is_smallest: smallest } = record.blame;
      const counts = weight !== count;
      const these = `${count === 1 ? "this row" : `these ${grouped(count)} rows`}${counts ? ` (of weight ${atLeast(weight)})` : ""}`;
      const must = counts ? `rows of total weight at least ${atLeast(least)} must be removed` : `at least ${grouped(least)} must be removed`;
      parts.push(el("p", {}, `Without ${these}, dashed in the picture (with both rings if they are also in the proof), the others are separable; ${smallest ? (counts ? "removing rows of less weight is not enough" : "removing fewer is not enough") : `${must}, and whether a smaller set exists is open`}.`),
        table("Rows to remove", ["line", "class"], record.blame.rows.slice(0, 20).map((row) => [grouped(row.line), row.label]), "blame-rows"),
        count > 20 ? el("p", {}, `and ${grouped(count - 20)} more, which the whole report lists.`) : null);
    }
    return parts;
  }

  scene() {
    const { drawing } = this;
    const { about } = drawing;
    const points = this.points?.x === drawing.x ? this.points : (this.points = { x: drawing.x, y: drawing.y, row: drawing.row, side: drawing.side, mark: drawing.mark, witness: drawing.witness });
    const scene = { points, axes: axesOf(about), flat: about.features === 1, lines: [], past: [] };
    if (about.final) {
      scene.lines.push({ line: about.final, width: 2.4 });
      scene.half = about.final;
      if (about.band > 0) scene.band = { line: about.final, width: about.band };
    }
    return scene;
  }

  alternative() {
    const { record } = this.result;
    const verdict = VERDICTS[record.verdict]?.[0] ?? "";
    const rows = record.witness_rows?.length ? `; ringed: lines ${record.witness_rows.slice(0, 20).map((row) => row.line).join(", ")}` : "";
    return `${verdict}${rows}`;
  }
}

/** The verdict on each class against the rest. */
function verdicts(list) {
  const margin = ({ verdict, margin: { lower, upper } }) => {
    if (verdict === "overlap" || verdict === "quasi-complete") return "none";
    return [el("span", {}, lower === null ? "none proved" : `≥ ${atLeast(lower)}`), " ", el("span", {}, `≤ ${atMost(upper)}`)];
  };
  const rows = list.map((one) => [one.classes.positive, VERDICTS[one.verdict][0].toLowerCase(), margin(one), one.verdict === "overlap" ? grouped(one.witness_rows.length) : "–"]);
  return table("Verdicts", ["class", "verdict", "margin γ*", "conflicting rows"], rows, "verdicts");
}

function coefficients(list) {
  if (!list?.length) return null;
  const MAX = 100;
  const rows = list.slice(0, MAX);
  return el("div", {}, el("p", {}, "What logistic regression without a penalty would estimate for each coefficient:"),
    table("Coefficients", ["feature", "estimate"], rows, "coefficients", 60),
    list.length > MAX ? el("p", { class: "help" }, `The first ${MAX} of ${grouped(list.length)}.`) : null);
}

export function table(title, heads, rows, id, most = 40) {
  return el("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": title },
    el("table", { id }, el("caption", {}, title), el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, Array.isArray(cell) ? cell : brief(cell, most))))))));
}
