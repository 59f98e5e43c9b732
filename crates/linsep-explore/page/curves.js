// The curves of the proof. Each is drawn once; while one scrubs, only what is before the current update is uncovered.

import { CanvasPen } from "./pen.js";
import { inks } from "./picture.js";
import { short } from "./dom.js";

const MARGIN = { left: 8, right: 8, top: 10, bottom: 18 };

export class Curve {
  /** Lines: `values` by update, a `dash` for bounds, and a `name`. */
  constructor(canvas, lines, { logarithmic = false, least = null } = {}) {
    this.canvas = canvas;
    this.lines = lines.filter((line) => line.values?.length);
    this.total = Math.max(0, ...this.lines.map((line) => line.values.length));
    this.logarithmic = logarithmic;
    this.least = least;
    this.at = this.total;
    this.faint = document.createElement("canvas");
    this.bold = document.createElement("canvas");
    this.size = "";
  }

  #prepare() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const ink = inks();
    const size = `${width}×${height} ${ink.text} ${ink.accent}`;
    if (!width || !height) return false;
    if (size === this.size) return true;
    this.size = size;
    this.width = width;
    this.height = height;
    const shown = (value) => (this.logarithmic ? Math.log10(Math.max(value, 1e-300)) : value);
    let [low, high] = [Infinity, -Infinity];
    for (const { values } of this.lines) for (const value of values) {
      if (!Number.isFinite(value) || (this.logarithmic && value <= 0)) continue;
      low = Math.min(low, shown(value));
      high = Math.max(high, shown(value));
    }
    if (this.least !== null) low = Math.min(low, this.least);
    if (!(high > low)) [low, high] = [low - 1, low + 1];
    this.px = (k) => MARGIN.left + ((k - 1) / Math.max(1, this.total - 1)) * (width - MARGIN.left - MARGIN.right);
    this.py = (value) => MARGIN.top + (1 - (shown(value) - low) / (high - low)) * (height - MARGIN.top - MARGIN.bottom);
    for (const [canvas, opacity] of [[this.faint, 0.28], [this.bold, 1]]) {
      const pen = new CanvasPen(canvas, width, height);
      pen.path([[MARGIN.left, height - MARGIN.bottom], [width - MARGIN.right, height - MARGIN.bottom]], { stroke: ink.line });
      for (const { values, dash, accent } of this.lines) {
        pen.path(this.#thinned(values), { stroke: accent ? ink.accent : ink.text, width: dash ? 1.5 : 2, dash: dash ? [5, 4] : [], opacity });
      }
    }
    return true;
  }

  /** At most the least and the largest value of each pixel. */
  #thinned(values) {
    const step = Math.max(1, Math.ceil(values.length / (this.width * 1.5)));
    const points = [];
    for (let i = 0; i < values.length; i += step) {
      let [low, high] = [i, i];
      for (let j = i + 1; j < Math.min(values.length, i + step); j++) {
        if (values[j] < values[low]) low = j;
        if (values[j] > values[high]) high = j;
      }
      for (const j of low === high ? [low] : [Math.min(low, high), Math.max(low, high)]) {
        if (!this.logarithmic || values[j] > 0) points.push([this.px(j + 1), this.py(values[j])]);
      }
    }
    return points;
  }

  move(k) {
    this.at = k;
    this.draw();
  }

  draw() {
    if (!this.lines.length || !this.#prepare()) return;
    const { width, height } = this;
    const pen = new CanvasPen(this.canvas, width, height);
    const { context } = pen;
    const ratio = this.bold.width / width;
    context.drawImage(this.faint, 0, 0, width, height);
    const x = this.at ? this.px(this.at) : MARGIN.left;
    const part = Math.max(1, Math.min(width, x));
    context.drawImage(this.bold, 0, 0, part * ratio, this.bold.height, 0, 0, part, height);
    const ink = inks();
    pen.path([[x, MARGIN.top], [x, height - MARGIN.bottom]], { stroke: ink.quiet, width: 1, dash: [2, 3] });
    if (this.at) {
      for (const { values, accent } of this.lines) {
        const value = values[Math.min(values.length, this.at) - 1];
        if (Number.isFinite(value) && (!this.logarithmic || value > 0)) pen.circle(x, this.py(value), 3.2, { fill: accent ? ink.accent : ink.text });
      }
    }
    pen.text(MARGIN.left, height - 5, "update 1", { fill: ink.quiet, size: 11 });
    pen.text(width - MARGIN.right, height - 5, short(this.total), { fill: ink.quiet, size: 11, align: "right" });
  }
}
