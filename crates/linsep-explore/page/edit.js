// Points added, moved, relabelled and removed: by mouse, by touch, and by keys.

import * as api from "./api.js";
import { byId, debounced, el, fill, short } from "./dom.js";

/** The most points that can be edited, and that an address holds. */
const MAX = 400;

export class Edit {
  constructor(app) {
    this.app = app;
    this.on = false;
    this.selected = -1;
    this.brush = 0;
    this.canvas = app.picture.canvas;
    byId("edit").addEventListener("click", () => this.toggle(!this.on));
    this.canvas.addEventListener("pointerdown", (event) => this.#down(event));
    this.canvas.addEventListener("pointermove", (event) => this.#move(event));
    this.canvas.addEventListener("pointerup", (event) => this.#up(event));
    this.canvas.addEventListener("dblclick", (event) => this.#relabelAt(event));
    this.canvas.addEventListener("contextmenu", (event) => { if (this.on) { event.preventDefault(); this.#relabelAt(event); } });
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
    this.send = debounced(220, () => this.#send());
  }

  /** Why the points cannot be edited, if they cannot. */
  refusal() {
    const { set } = this.app;
    if (!set) return "there is no data";
    if (set.features !== 2) return "points of two columns can be edited";
    if (set.rows > MAX) return `at most ${MAX} points can be edited`;
    if (set.class_count > 6) return "at most six classes can be edited";
    return null;
  }

  update() {
    const refusal = this.refusal();
    byId("edit").disabled = Boolean(refusal);
    byId("edit").title = refusal ?? "";
    if (refusal && this.on) this.toggle(false);
  }

  async toggle(on) {
    this.on = on && !this.refusal();
    byId("edit").setAttribute("aria-pressed", String(this.on));
    byId("edit-bar").hidden = !this.on;
    // What is said of the points changes with the first edit; the picture below it stays where it is.
    byId("intro").style.minHeight = this.on ? `${byId("intro").getBoundingClientRect().height}px` : "";
    this.canvas.classList.toggle("editing", this.on);
    this.selected = -1;
    this.cursor = null;
    if (this.on) await this.#take();
    this.app.draw();
  }

  /** Takes over the points of the data, in the units of the file. */
  async #take() {
    const { set } = this.app;
    const drawn = await api.points(set.id, null);
    const names = drawn.about.outcomes;
    this.columns = drawn.about.axes.map((axis) => axis.name);
    const only = this.app.state.settings.classes?.only;
    const kept = only ? names.filter((name) => only.includes(name)) : names;
    this.classes = kept.length > 1 ? kept : names;
    this.list = [];
    for (let i = 0; i < drawn.x.length; i++) {
      const side = this.classes.indexOf(names[drawn.side[i]]);
      if (side >= 0) this.list.push({ x: drawn.x[i], y: drawn.y[i], side });
    }
    this.brush = Math.min(this.brush, this.classes.length - 1);
    fill(byId("brushes"), this.classes.map((name, i) => el("label", { class: "brush" }, el("input", { type: "radio", name: "brush", value: String(i), checked: i === this.brush, onchange: () => { this.brush = i; } }), name)));
    this.#sides();
  }

  /** The points as the picture wants them. */
  #sides() {
    const axes = this.app.axes();
    const places = { x: new Float64Array(this.list.length), y: new Float64Array(this.list.length), row: new Uint32Array(this.list.length), side: new Uint8Array(this.list.length) };
    this.list.forEach((point, i) => {
      places.x[i] = (point.x - axes[0].mean) / axes[0].divisor;
      places.y[i] = (point.y - axes[1].mean) / axes[1].divisor;
      places.row[i] = i;
      places.side[i] = point.side;
    });
    this.points = places;
  }

  /** What the picture shows while points are edited: the boundary of the last run, and the points as they are now. */
  scene(scene) {
    if (!this.points) return scene;
    const half = scene.half ? { half: scene.half } : {};
    return { axes: scene.axes, flat: false, points: this.#ringed(scene), lines: scene.lines, past: [], band: scene.band, region: scene.region, cells: scene.cells, classes: scene.classes, ...half, selected: this.selected, cursor: this.cursor };
  }

  /** The points, with the rings of a decision if there is one: the same object until either changes, as the picture keeps its view for the same points. */
  #ringed(scene) {
    if (!scene.points?.mark) return this.points;
    if (this.rings?.of !== this.points || this.rings.by !== scene.points) {
      this.rings = { of: this.points, by: scene.points, points: { ...this.points, ...this.#rings(scene) } };
    }
    return this.rings.points;
  }

  /** The rings of a decision, around the points that are where its rows are. */
  #rings({ points, axes }) {
    const mark = new Uint8Array(this.list.length);
    const witness = new Uint8Array(this.list.length);
    const near = (a, b) => Math.abs(a - b) <= 1e-9 * (1 + Math.abs(a));
    points.mark.forEach((one, i) => {
      if (!one) return;
      const [x, y] = [points.x[i] * axes[0].divisor + axes[0].mean, points.y[i] * axes[1].divisor + axes[1].mean];
      this.list.forEach((point, k) => {
        if (near(point.x, x) && near(point.y, y)) [mark[k], witness[k]] = [one, points.witness[i]];
      });
    });
    return { mark, witness };
  }

  #pixel(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #raw([x, y]) {
    const axes = this.app.axes();
    const unit = this.app.picture.unit();
    // As many digits as a pixel tells apart.
    const tidy = (value, step) => Number(value.toFixed(Math.max(0, Math.min(12, Math.ceil(-Math.log10(Math.abs(step)))))));
    return { x: tidy(x * axes[0].divisor + axes[0].mean, unit[0] * axes[0].divisor), y: tidy(y * axes[1].divisor + axes[1].mean, unit[1] * axes[1].divisor) };
  }

  #down(event) {
    if (!this.on || event.button !== 0) return;
    const [px, py] = this.#pixel(event);
    const hit = this.app.picture.nearest(px, py);
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = { hit, moved: false, from: [px, py] };
    this.selected = hit;
    this.cursor = null;
    this.app.draw();
  }

  #move(event) {
    if (!this.on || !this.drag || this.drag.hit < 0) return;
    const at = this.#pixel(event);
    if (!this.drag.moved && Math.hypot(at[0] - this.drag.from[0], at[1] - this.drag.from[1]) < 4) return;
    this.drag.moved = true;
    Object.assign(this.list[this.drag.hit], this.#raw(this.app.picture.placeAt(...at)));
    this.#keepView();
  }

  #up(event) {
    if (!this.on || !this.drag) return;
    const { hit, moved } = this.drag;
    this.drag = null;
    if (hit < 0) this.add(this.app.picture.placeAt(...this.#pixel(event)));
    else if (moved) this.#changed(`point ${hit + 1} moved to ${short(this.list[hit].x)}, ${short(this.list[hit].y)}`);
  }

  add(place) {
    if (this.list.length >= MAX) return this.app.say(`At most ${MAX} points.`);
    this.list.push({ ...this.#raw(place), side: this.brush });
    this.selected = this.list.length - 1;
    this.#changed(`point ${this.list.length} added to ${this.classes[this.brush]}`);
  }

  #relabelAt(event) {
    if (!this.on) return;
    const hit = this.app.picture.nearest(...this.#pixel(event));
    if (hit >= 0) this.relabel(hit);
  }

  relabel(i) {
    this.list[i].side = (this.list[i].side + 1) % this.classes.length;
    this.#changed(`point ${i + 1} is now ${this.classes[this.list[i].side]}`);
  }

  remove(i) {
    this.list.splice(i, 1);
    this.selected = Math.min(i, this.list.length - 1);
    this.#changed("point removed");
  }

  #key(event) {
    if (!this.on || event.ctrlKey || event.metaKey || event.altKey) return;
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const { picture } = this.app;
    if (arrows[event.key]) {
      const step = event.shiftKey ? 24 : 6;
      const unit = picture.unit();
      const by = [arrows[event.key][0] * step * unit[0], arrows[event.key][1] * step * unit[1]];
      if (this.selected >= 0 && !this.cursor) {
        const { x, y } = this.points;
        Object.assign(this.list[this.selected], this.#raw([x[this.selected] + by[0], y[this.selected] + by[1]]));
        this.#changed(`point ${this.selected + 1} moved`);
      } else {
        const middle = [(picture.view.x[0] + picture.view.x[1]) / 2, (picture.view.y[0] + picture.view.y[1]) / 2];
        const from = this.cursor ?? middle;
        this.cursor = [from[0] + by[0], from[1] + by[1]];
        const at = this.#raw(this.cursor);
        this.app.say(`cursor at ${short(at.x)}, ${short(at.y)}`);
        this.app.draw();
      }
    } else if (event.key === "n" || event.key === "N" || event.key === "p" || event.key === "P") {
      const by = event.key.toLowerCase() === "n" ? 1 : -1;
      this.cursor = null;
      if (!this.list.length) return this.app.say("there is no point: A adds one");
      this.selected = (this.selected + by + this.list.length) % this.list.length;
      const point = this.list[this.selected];
      this.app.say(`point ${this.selected + 1} of ${this.list.length}: ${short(point.x)}, ${short(point.y)}, ${this.classes[point.side]}`);
      this.app.draw();
    } else if (event.key === "Enter" && this.cursor) this.add(this.cursor);
    else if (event.key === "a" || event.key === "A") { this.selected = -1; this.cursor = [(picture.view.x[0] + picture.view.x[1]) / 2, (picture.view.y[0] + picture.view.y[1]) / 2]; this.app.say("cursor in the middle: move it with the arrow keys, Enter adds a point"); this.app.draw(); }
    else if ((event.key === "l" || event.key === "L") && this.selected >= 0) this.relabel(this.selected);
    else if ((event.key === "Delete" || event.key === "Backspace") && this.selected >= 0) this.remove(this.selected);
    else if (event.key === "Escape") { this.selected = -1; this.cursor = null; this.app.draw(); }
    else return;
    event.preventDefault();
  }

  #keepView() {
    // The same view while points move: nothing jumps.
    const { view } = this.app.picture;
    this.#sides();
    this.app.draw();
    this.app.picture.view = view;
  }

  #changed(words) {
    this.app.say(words);
    this.#keepView();
    this.send();
  }

  text() {
    return tableOf(this.columns, this.classes, this.list);
  }

  async #send() {
    const { app } = this;
    const file = new File([this.text()], "points.csv");
    await app.working("learning", async (signal, hear) => {
      const set = await api.send(file, "points.csv", {}, { signal, hear });
      app.data.remember(set);
      await app.useSet(set, { points: packed(this.columns, this.classes, this.list), keepsView: true });
    });
  }
}

const quoted = (text) => (/[",\n\r]/.test(text) || text.trim() !== text ? `"${text.replaceAll('"', '""')}"` : text);

export function tableOf(columns, classes, list) {
  const rows = list.map((point) => `${point.x},${point.y},${quoted(classes[point.side])}`);
  return `${columns.map(quoted).join(",")},class\n${rows.join("\n")}\n`;
}

/** Points as a short text for the address. */
export const packed = (columns, classes, list) => JSON.stringify([columns, classes, list.map((point) => [point.x, point.y, point.side])]);

export function unpacked(text) {
  try {
    const [columns, classes, list] = JSON.parse(text);
    const points = list.map(([x, y, side]) => ({ x: Number(x), y: Number(y), side: Number(side) }));
    if (columns.length !== 2 || points.length > MAX || points.some((point) => !classes[point.side] || !Number.isFinite(point.x + point.y))) return null;
    return tableOf(columns.map(String), classes.map(String), points);
  } catch {
    return null;
  }
}
