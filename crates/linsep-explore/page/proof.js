// The proof of the convergence theorem, in step with the run: its curves, and its lines with the current numbers.

import { atLeast, atLeastAbove, atMost, atMostBelow, byId, el, fill, grouped, product, short, shortened, sign, write } from "./dom.js";
import { Curve } from "./curves.js";
import { rowOf } from "./learn.js";

/** A curve with its title and its sentence. */
function card(title, words, lines, options) {
  const canvas = el("canvas", { class: "curve", role: "img", "aria-label": `${title}. ${words}` });
  const keys = lines.filter((line) => line.values?.length).map((line) =>
    el("li", { class: `${line.dash ? "dashed" : "solid"}${line.accent ? " accent" : ""}` }, line.name));
  const element = el("section", { class: "card" }, el("h3", {}, title), el("ul", { class: "keys" }, keys), canvas, el("p", { class: "words" }, words));
  return { element, curve: new Curve(canvas, lines, options) };
}

export class Proof {
  constructor() {
    this.curves = [];
    this.data = null;
  }

  /** Takes the trace of a run, or says why there is none. */
  load(drawing, result) {
    this.data = drawing;
    this.result = result;
    const trace = (name) => drawing[`trace.${name}`];
    const cards = [];
    const known = Boolean(trace("alignment"));
    this.several = Boolean(drawing["update.class"]);
    // Of very many updates only the first are followed: they end before the run does, without the boundary that it ends with.
    const followed = drawing["update.row"]?.length ?? 0;
    this.cut = drawing.about?.updates > followed ? { followed, updates: drawing.about.updates, converged: Boolean(result?.record.converged) } : null;
    write("proof-intro", intro(Boolean(trace("norm_squared")), known, this.several, this.cut));
    if (trace("norm_squared")) {
      if (known) {
        cards.push(card("It turns towards θ*", "Every mistake adds at least γ to the agreement with θ*: the curve stays above a line that climbs.", [
          { name: "⟨θₖ, θ*⟩", values: trace("alignment") }, { name: "kγ, its floor", values: trace("alignment_bound"), dash: true, accent: true }], { least: 0 }));
      }
      cards.push(card("It cannot grow fast", this.several
        ? "A mistake lengthens θ by at most the longest z: the curve stays below a line."
        : "A mistake lengthens θ by at most the longest row: the curve stays below a line.", [
        { name: "‖θₖ‖²", values: trace("norm_squared") }, { name: "kR², its ceiling", values: trace("norm_squared_bound"), dash: true, accent: true }], { least: 0 }));
      if (known) {
        cards.push(card("So it must stop", "The floor of the cosine grows with √k, and no cosine exceeds 1. Where the floor would reach 1, no more mistakes are possible.", [
          { name: "cos∠(θₖ, θ*)", values: trace("cosine") }, { name: "its floor", values: trace("cosine_bound"), dash: true, accent: true }], { least: 0 }));
      }
      cards.push(card("The margin is pinned down", known
        ? "No boundary has a margin above ‖θₖ‖/k, and the boundary that was found has the margin below: the best is between them."
        : `No boundary has a margin above ‖θₖ‖/k: the more mistakes, the smaller it must be. ${result?.record.margin.lower ? "The boundary that the run ends with has the margin below." : "No boundary has been found that would bound it from below."}`,
      [{ name: "‖θₖ‖/k ≥ γ*", values: trace("margin_upper") }, ...lower(result, trace("margin_upper"))], { logarithmic: true }));
    }
    byId("proof-lines").replaceChildren();
    this.curves = cards.map((one) => one.curve);
    fill(byId("curves"), cards.map((one) => one.element));
    byId("no-proof").hidden = cards.length > 0;
    write("no-proof", cards.length ? "" : reason(result));
    byId("proof-lines").hidden = cards.length === 0;
  }

  move(k) {
    if (byId("panel-proof").hidden) return;
    for (const curve of this.curves) curve.move(k);
    this.#lines(k);
  }

  /** The lines of Novikoff's proof with the numbers of update k. */
  #lines(k) {
    const { data } = this;
    if (!data?.["trace.norm_squared"]) return;
    const at = (name, i) => (i < 1 ? 0 : data[`trace.${name}`]?.[i - 1]);
    const norm2 = at("norm_squared", k);
    const last = data["trace.norm_squared"].length;
    const known = Boolean(data["trace.alignment"]);
    const radius2 = at("norm_squared_bound", 1);
    const gamma = known ? at("alignment_bound", 1) : null;
    const star = Math.sqrt(at("norm_squared", last));
    const row = k ? rowOf(data, k).replace(/^./, (letter) => letter.toUpperCase()) : null;
    const agreement = k ? data["update.agreement"][k - 1] : null;
    const outcome = (which) => shortened(data.about.outcomes[data[`update.${which}`][k - 1]]);
    const lines = [];
    const line = (title, words, formula) => lines.push(el("li", {}, el("h4", {}, title), el("p", {}, words), formula ? el("p", { class: "formula" }, formula) : null));
    line("Start at zero", "Before the first mistake θ₀ = 0: it agrees with nothing, and has no length.", null);
    if (!k) {
      line("Go on to update 1", "Step on, and each line is filled in with the numbers of that update.", null);
      fill(byId("proof-lines"), lines);
      return;
    }
    line(`Update ${grouped(k)} was a mistake`, this.several
      ? `${row} is of the class ${outcome("class")}, whose score was not above that of ${outcome("rival")}: the agreement, one score minus the other, was not positive. z holds the row at ${outcome("class")} and minus the row at ${outcome("rival")}.`
      : `${row} was on the wrong side, or on the boundary: its agreement z·θ was not positive.`,
    `⟨θ${sub(k - 1)}, z⟩ ${sign(short(agreement), agreement)} ${short(agreement)} ≤ 0`);
    // Bounds are rounded outwards, and what is printed multiplies out: the product is that of the printed factors.
    const floor = known ? product(grouped(k), atLeast(gamma)) : null;
    const alignment = known ? atLeastAbove(at("alignment", k), floor) : null;
    if (known) {
      line("Each mistake turns θ towards θ*", this.several
        ? "θ* has the class of every row ahead of every rival by at least γ, so adding z adds at least γ to the agreement with θ*."
        : "θ* has every row on its right side by at least γ, so adding z adds at least γ to the agreement with θ*.",
      `⟨θ${sub(k)}, θ*⟩ ${sign(alignment, at("alignment", k))} ${alignment} ≥ kγ ${sign(atLeast(gamma), gamma, "≥")} ${grouped(k)} · ${atLeast(gamma)} = ${floor}`);
    }
    const ceiling = product(grouped(k), atMost(radius2));
    const length2 = atMostBelow(norm2, ceiling);
    line("Each mistake lengthens θ only a little", "‖θ + z‖² = ‖θ‖² + 2⟨θ, z⟩ + ‖z‖². The middle part is not positive, because it was a mistake; the last is at most R².",
      `‖θ${sub(k)}‖² ${sign(length2, norm2)} ${length2} ≤ kR² ${sign(atMost(radius2), radius2, "≤")} ${grouped(k)} · ${atMost(radius2)} = ${ceiling}`);
    if (known) {
      const lengths = [Math.sqrt(norm2), star];
      const [own, other] = lengths.map(atMost);
      const exact = lengths.every((length, i) => sign(atMost(length), lengths[i]) === "=");
      line("Agreement is at most length times length", "This is the inequality of Cauchy and Schwarz.",
        `${alignment} ≤ ‖θ${sub(k)}‖ · ‖θ*‖ ${exact ? "=" : "≤"} ${own} · ${other} = ${product(own, other)}`);
      const bound = radius2 * star * star / (gamma * gamma);
      line("So there is a last mistake", `The left side grows like k, the right side like √k: k γ ≤ √k R ‖θ*‖. Hence k is at most (R‖θ*‖/γ)².`,
        `k = ${grouped(k)} ≤ (R‖θ*‖/γ)² ${sign(atMost(bound), bound)} ${atMost(bound)}`);
    } else if (this.cut) {
      line("No comparison with θ*", `${this.cut.converged ? "The run ends with a boundary that has every row on its right side" : "The run goes on"}, but only its first ${grouped(this.cut.followed)} updates are recorded. The margin of any boundary is at most the length of θ divided by the number of mistakes.`,
        `γ* ≤ ‖θ${sub(k)}‖ / k ${sign(atMost(at("margin_upper", k)), at("margin_upper", k))} ${atMost(at("margin_upper", k))}`);
    } else {
      line("There is no θ* to compare with", `This run has not found ${this.several ? "a θ* that has the class of every row ahead" : "a boundary with every row on its right side"}. If there is one, its margin is at most the length of θ divided by the number of mistakes.`,
        `γ* ≤ ‖θ${sub(k)}‖ / k ${sign(atMost(at("margin_upper", k)), at("margin_upper", k))} ${atMost(at("margin_upper", k))}`);
    }
    fill(byId("proof-lines"), lines);
  }
}

/** What the letters stand for, of those that this run has. */
function intro(traced, known, several, cut) {
  const why = "Why a perceptron stops if a boundary exists, with the numbers of the update that is shown.";
  if (!traced) return "Why a perceptron stops if a boundary exists.";
  if (several) {
    const stacked = `${why} With several classes, θ is the weights of all classes in one long vector, and the z of a mistake holds the row at its class and minus the row at the strongest rival. So the proof is the same as for two classes. R is the length of the longest z: √2 times that of the longest row.`;
    if (cut && !known) return `${stacked} ${cutShort(cut)}`;
    if (known) return `${stacked} θ* is the last θ of the run, which gives the class of every row the largest score; γ is the smallest lead.`;
    return `${stacked} This run has found no θ* that gives the class of every row the largest score, so the comparison with it is left out.`;
  }
  if (known) return `${why} θ* is the boundary that the run found, γ its smallest agreement with a row, R the length of the longest row.`;
  if (cut) return `${why} R is the length of the longest row. ${cutShort(cut)}`;
  return `${why} This run has found no boundary θ* with every row on its right side, so the comparison with it is left out. R is the length of the longest row.`;
}

/** Why nothing is compared with θ*, and what to do about it. */
function cutShort({ followed, updates, converged }) {
  const found = converged ? "The run did find a θ* with every row on its right side, after" : "The run made";
  return `${found} ${grouped(updates)} updates; the page records only the first ${grouped(followed)}, so the comparison with θ* is left out. A run of fewer updates is recorded completely: on the tab Learning, choose another “scale” (standard, or max-abs), or two classes that are farther apart. On the command line, linsep train with --trace FILE follows every update.`;
}

function lower(result, upper) {
  const gamma = result.record.margin.lower;
  if (!gamma || !upper) return [];
  return [{ name: "margin of the result ≤ γ*", values: new Float64Array(upper.length).fill(gamma), dash: true, accent: true }];
}

function reason(result) {
  if (!result) return "Train first: the proof uses the mistakes of a run.";
  if (result.record.boundaries?.length > 2) return "This learner trains each class against the rest in a separate run, and the page shows the proof of one run. Choose the learner multiclass, which has one run for all classes; or choose two classes, or one against the rest, under “Classes” on the tab Learning, and there the learner perceptron, averaged or voted.";
  return `The theorem is about a perceptron that starts at zero, on two classes, with unweighted rows. It does not apply to this run (${result.record.learner}). On the tab Learning, choose the learner perceptron, averaged or voted.`;
}

const DIGITS = "₀₁₂₃₄₅₆₇₈₉";
const sub = (k) => String(k).replace(/\d/g, (digit) => DIGITS[digit]);
