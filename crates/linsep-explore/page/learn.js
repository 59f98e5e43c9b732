// Learning: the run, its picture at each update, its report.

import * as api from "./api.js";
import { brief, byId, counted, el, fill, grouped, save, short, shortened } from "./dom.js";
import { PAST } from "./picture.js";
import { report } from "./report.js";

export class Learn {
  constructor(app) {
    this.app = app;
    this.result = null;
    this.drawing = null;
  }

  /** Learns from the data of the page with its settings. */
  async run() {
    const { app } = this;
    const spec = { job: "train", data: { source: app.set.id }, ...app.state.settings };
    await app.working("learning", async (signal, hear) => {
      const result = await api.run(spec, { signal, hear });
      const drawing = await api.drawing(result.id, signal);
      this.take(result, drawing);
    });
  }

  /** Shows rows that nothing was learned from yet, or could be. */
  bare(drawing) {
    this.take(null, drawing);
  }

  take(result, drawing) {
    this.result = result;
    this.drawing = drawing;
    const { about } = drawing;
    this.points = { x: drawing.x, y: drawing.y, row: drawing.row, side: drawing.side };
    this.mistakes = new Float64Array(drawing.x?.length ?? 0);
    this.counted = 0;
    let rows = 0;
    for (const row of drawing["update.row"] ?? []) rows = Math.max(rows, row + 1);
    for (const row of drawing.row ?? []) rows = Math.max(rows, row + 1);
    this.place = new Int32Array(rows).fill(-1);
    (drawing.row ?? []).forEach((row, i) => { this.place[row] = i; });
    this.stride = about.stride ?? 1;
    this.moves = movesOf(drawing);
    const updates = drawing["update.row"]?.length ?? 0;
    const passes = drawing["pass.number"]?.length ?? 0;
    const { app } = this;
    app.proof.load(drawing, result);
    this.#report();
    app.player.load(updates || passes, updates ? "updates" : "passes", (k) => this.words(k), app.state.update);
    app.describe();
  }

  /** What step k is, in a few words. */
  words(k) {
    const { drawing } = this;
    if (!drawing) return "";
    if (drawing["update.row"]) {
      if (k === 0) return this.moves ? "before the first mistake: all weights are 0, no boundary yet" : "before the first mistake: θ = 0, no boundary yet";
      const pass = drawing["update.epoch"][k - 1];
      const moved = drawing["update.class"] ? `: added to ${this.outcome("class", k)}, subtracted from ${this.outcome("rival", k)}` : "";
      return `pass ${grouped(pass)}: ${rowOf(drawing, k)}, agreement ${short(drawing["update.agreement"][k - 1])}${moved}`;
    }
    if (drawing["pass.number"]) return k === 0 ? "before the first pass" : `after ${counted(drawing["pass.number"][k - 1], "pass", "passes")}`;
    return this.result ? "this learner has no intermediate steps" : "";
  }

  /** The class of the row of update k, or its strongest rival. */
  outcome(which, k) {
    const { about } = this.drawing;
    return shortened(about.outcomes[this.drawing[`update.${which}`][k - 1]]);
  }

  /** The score of each class on the plane after step k, where each class has one; none before the first step. */
  scores(k) {
    return this.moves && k > 0 ? this.moves.map(({ steps, at }) => at[lastUpTo(steps, k)] ?? [0, 0, 0]) : null;
  }

  line(k) {
    const { drawing, stride } = this;
    if (k < 1 || !drawing["line.a"]) return null;
    const i = drawing["update.row"] ? Math.floor((k - 1) / stride) : k - 1;
    return [drawing["line.a"][i], drawing["line.b"][i], drawing["line.c"][i]];
  }

  /** Whether the result is another boundary than that of the last update: an average, or the best one. */
  endsElsewhere() {
    const { about } = this.drawing;
    const updates = this.drawing["update.row"]?.length ?? 0;
    if (this.moves) return updates > 0 && !alike(about.final_classes, this.scores(updates));
    const last = this.line(updates);
    return Boolean(last && about.final) && !same(about.final, last);
  }

  /** Counts the mistakes of each drawn row up to step k. */
  #count(k) {
    const rows = this.drawing["update.row"];
    if (!rows) return;
    const by = k > this.counted ? 1 : -1;
    const [from, to] = by > 0 ? [this.counted, k] : [k, this.counted];
    for (let i = from; i < to; i++) {
      const place = this.place[rows[i]];
      if (place >= 0) this.mistakes[place] += by;
    }
    this.counted = k;
  }

  /** What the picture shows at step k. */
  scene(k) {
    const { drawing, points } = this;
    const { about } = drawing;
    this.#count(k);
    const total = this.app.player.total;
    const line = this.line(k);
    const lines = [];
    const isEnd = k === total;
    const final = about.final;
    // The result is shown where the run has come to it: before, it would give the answer away.
    const isElsewhere = isEnd && final && !same(final, line);
    if (isElsewhere) lines.push({ line: final, dash: 1, opacity: 0.95, width: 2.4 });
    if (line) lines.push({ line, width: isElsewhere ? 1.6 : 2.4 });
    const past = [];
    for (let i = Math.max(1, k - PAST * this.stride); i < k; i += this.stride) { const before = this.line(i); if (before) past.push(before); }
    const scene = { points, axes: axesOf(about), flat: about.features === 1, mistakes: this.mistakes, lines, past };
    if (!this.result) return scene;
    if (about.final_classes) return this.#classScene(scene, k, isEnd);
    if (about.region) { scene.region = about.region; scene.cells = drawing.region; } else scene.half = line ?? (total === 0 ? final : null);
    if (isEnd && final && about.band) scene.band = { line: final, width: about.band };
    if (k > 0 && drawing["update.row"]) {
      scene.example = { x: drawing["update.x"][k - 1], y: drawing["update.y"][k - 1], before: this.line(k - 1), after: line };
      if (line && this.stride === 1 && about.features === 2) {
        const before = this.line(k - 1) ?? [0, 0, 0];
        scene.vectors = { before: [before[0], before[1]], added: [line[0] - before[0], line[1] - before[1]], after: [line[0], line[1]] };
      }
    }
    return scene;
  }

  /** What the picture shows of several classes with a score each: at step k its regions, at the end also the boundaries of the result. */
  #classScene(scene, k, isEnd) {
    const { drawing } = this;
    const { about } = drawing;
    const scores = this.scores(k);
    scene.classes = scores ?? (this.app.player.total === 0 ? about.final_classes : null);
    if (isEnd && scores && !alike(about.final_classes, scores)) scene.result = about.final_classes;
    if (about.outcomes.length <= MAX_FADING) {
      for (let i = Math.max(1, k - PAST * this.stride); i < k; i += this.stride) scene.past.push(this.scores(i));
    }
    if (k > 0 && drawing["update.class"]) {
      const [own, rival] = [drawing["update.class"][k - 1], drawing["update.rival"][k - 1]];
      const between = (all) => all && all[own].map((value, i) => value - all[rival][i]);
      scene.example = { x: drawing["update.x"][k - 1], y: drawing["update.y"][k - 1], before: between(this.scores(k - 1)), after: between(scores) };
    }
    return scene;
  }

  /** What the picture shows, for those who do not see it. */
  alternative(k) {
    const { about } = this.drawing;
    const parts = [`${grouped(this.drawing.x?.length ?? 0)} of ${counted(about.rows, "row", "rows")} of the classes ${about.outcomes.join(" and ")}`];
    const line = this.line(k);
    if (line && about.features === 2) {
      parts.push(`boundary ${short(line[0])} · ${about.axes[0].name} + ${short(line[1])} · ${about.axes[1].name} + ${short(line[2])} = 0${about.axes.some((axis) => axis.divisor !== 1 || axis.mean !== 0) ? " in scaled units" : ""}`);
    }
    if (this.scores(k)) parts.push(`each point has the class with the largest of ${grouped(about.outcomes.length)} scores`);
    parts.push(this.words(k));
    return parts.join("; ");
  }

  #report() {
    const { result, app } = this;
    const box = byId("learn-report");
    if (!result) {
      for (const id of ["learn-report", "learn-command", "learn-downloads"]) fill(byId(id));
      return;
    }
    if (result.no_model) {
      fill(box, el("p", { class: "verdict bad" }, result.no_model.message), el("p", { class: "help" }, result.no_model.help));
    } else fill(box, report(result.report), weights(result.weights));
    fill(byId("learn-command"), command(result.command));
    const part = (name, label, ending) => el("button", { type: "button", class: "quiet", "data-part": name, onclick: () => app.attempt(async () => save(await api.part(result.id, name), `${stem(app.set.name)}.${ending}`)) }, label);
    fill(byId("learn-downloads"),
      result.parts.model ? part("model", "Model", "model") : null,
      result.parts.trace ? part("trace", "Trace", "trace.jsonl") : null,
      part("spec", "Job (TOML)", "toml"),
      el("button", { type: "button", class: "quiet", "data-part": "picture", onclick: () => app.savePicture() }, "Picture (SVG)"),
      app.set.has_file ? el("button", { type: "button", class: "quiet", "data-part": "data", onclick: () => app.attempt(async () => save(await api.dataFile(app.set.id), app.set.name)) }, "Data") : null);
  }
}

/** The row of update k: by its line in the file where rows of it are there several times. */
export function rowOf(drawing, k) {
  return drawing["update.line"] ? `the row in line ${grouped(drawing["update.line"][k - 1])}` : `row ${grouped(drawing["update.row"][k - 1] + 1)}`;
}

export const stem = (name) => name.replace(/^.*[\\/]/, "").replace(/\.(csv|tsv|libsvm|svm|npy|npz|arff|txt|gz|zst)$/i, "") || "data";

/** Of more classes than this, boundaries before the current ones are not drawn. */
const MAX_FADING = 12;

/** When the score of each class changed, and to what. */
function movesOf(drawing) {
  const steps = drawing["class.step"];
  if (!steps) return null;
  const moves = drawing.about.outcomes.map(() => ({ steps: [], at: [] }));
  steps.forEach((step, i) => {
    const own = moves[drawing["class.class"][i]];
    own.steps.push(step);
    own.at.push([drawing["class.a"][i], drawing["class.b"][i], drawing["class.c"][i]]);
  });
  return moves;
}

/** The place of the last number up to `most` in a list that grows; -1 if there is none. */
function lastUpTo(numbers, most) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= most) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const alike = (one, other) => one.every((line, i) => same(line, other[i]));

const same = (one, other) => Boolean(one && other) && one.every((value, i) => Math.abs(value - other[i]) <= 1e-12 * Math.max(1, Math.abs(value)));

/** The axes of a picture, with names for planes that are not of two columns. */
export function axesOf(about) {
  if (about.plane === "columns") return about.features === 1 ? [about.axes[0], { ...about.axes[1], name: "" }] : about.axes;
  const plain = { mean: 0, divisor: 1 };
  const first = about.pair ? `from ${shortened(about.pair[0])} to ${shortened(about.pair[1])}` : about.plane === "theta" ? "along the weights θ" : "from the mean of one class to that of the other";
  return [{ name: first, ...plain }, { name: "the main direction across", ...plain }];
}

export function command(text) {
  if (!text) return [];
  return [el("p", { class: "help" }, "The same on the command line:"), el("pre", { class: "command", tabIndex: 0 }, text)];
}

function weights(found) {
  if (!found?.strongest?.length) return null;
  const unit = found.strongest.some((one) => one.per_unit !== null && one.per_unit !== one.weight);
  return el("details", {}, el("summary", {}, "Strongest weights"), el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "feature"), el("th", { scope: "col", class: "number" }, "weight"), unit ? el("th", { scope: "col", class: "number" }, "per unit of the file") : null)),
    el("tbody", {}, found.strongest.map((one) => el("tr", {}, el("th", { scope: "row" }, brief(one.feature)), el("td", { class: "number" }, short(one.weight)), unit ? el("td", { class: "number" }, short(one.per_unit)) : null))))));
}
