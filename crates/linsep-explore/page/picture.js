// The picture: rows in their plane, boundaries, the band that is free of rows, the example of an update.

import { CanvasPen, SvgPen, textWidth } from "./pen.js";
import { fixed } from "./dom.js";

const MARGIN = { left: 54, right: 18, top: 30, bottom: 46 };
/** The size of the numbers at the axes. */
const TICK = 11;
/** An axis that would fill less than one part in so many of its room is stretched. */
const MAX_SQUEEZED = 2.5;
/** Boundaries before the current one that are still seen. */
const PAST = 14;

/** The colours of the theme, as the style sheet has them. */
export function inks() {
  const style = getComputedStyle(document.documentElement);
  const ink = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    text: ink("text"), quiet: ink("quiet"), line: ink("line"), surface: ink("surface"), accent: ink("accent"), bad: ink("bad"),
    sides: ["side-0", "side-1", "side-2", "side-3", "side-4", "side-5"].map(ink),
    tints: ["tint-0", "tint-1", "tint-2", "tint-3", "tint-4", "tint-5"].map(ink),
  };
}

/** How boundaries of a comparison are broken: one for each learner. */
export const DASHES = [[], [9, 4], [3, 3], [12, 4, 3, 4], [6, 3, 2, 3, 2, 3], [2, 5], [18, 5], [2, 2, 2, 7], [9, 3, 9, 3, 2, 3],
  [14, 10], [18, 4, 3, 4, 3, 4], [1.5, 8], [5, 8], [20, 3, 6, 3], [4, 2, 4, 9], [7, 2]];

export class Picture {
  constructor(canvas) {
    this.canvas = canvas;
    this.scene = null;
    this.drawn = { width: 0, height: 0 };
    this.frame = 0;
    new ResizeObserver(() => this.redraw()).observe(canvas.parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  /** Shows a scene: `points`, and what else there is to draw. Keeps the view if the scene has the same points. */
  show(scene) {
    const same = this.scene && this.scene.points === scene.points;
    this.scene = scene;
    if (!same || !this.view) this.#fit();
    this.redraw();
  }

  /** Draws at the next frame. */
  redraw() {
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  draw() {
    if (!this.scene) return;
    const { width, height } = this.canvas.parentElement.getBoundingClientRect();
    if (!width || !height) return;
    this.drawn = { width, height };
    this.#paint(new CanvasPen(this.canvas, width, height), inks());
  }

  svg(title) {
    const { width, height } = this.drawn;
    const ink = inks();
    const pen = new SvgPen(Math.round(width), Math.round(height), title, ink.surface);
    this.#paint(pen, ink);
    return pen.blob();
  }

  /** The ranges of the two axes. */
  #fit() {
    const { x, y } = this.scene.points;
    const range = (values) => {
      let [least, most] = [Infinity, -Infinity];
      for (const value of values) { least = Math.min(least, value); most = Math.max(most, value); }
      if (!Number.isFinite(least)) [least, most] = [-1, 1];
      if (least === most) [least, most] = [least - 1, most + 1];
      const room = 0.08 * (most - least);
      return [least - room, most + room];
    };
    this.view = { x: range(x ?? []), y: range(y ?? []) };
  }

  /** From places of the plane to pixels and back, with as much room on the left as the numbers there need. */
  #scale() {
    let left = MARGIN.left;
    let scale = this.#scaleFrom(left);
    if (this.scene.flat) return scale;
    // More room on the left leaves less for the picture, which may change the numbers: twice is enough.
    for (let i = 0; i < 2; i++) {
      const widest = Math.max(0, ...this.#upTicks(scale).map((tick) => textWidth(tick.text, TICK)));
      const needed = Math.min(this.drawn.width / 2, Math.ceil(widest) + 14);
      if (needed <= left) break;
      left = needed;
      scale = this.#scaleFrom(left);
    }
    return scale;
  }

  /** The numbers at the axis upwards. */
  #upTicks(scale) {
    return ticks(scale.y0, scale.y1, this.scene.axes[1], scale.box.height / 60);
  }

  #scaleFrom(left) {
    const { width, height } = this.drawn;
    const box = { x: left, y: MARGIN.top, width: width - left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
    let [x0, x1] = this.view.x;
    let [y0, y1] = this.view.y;
    let [sx, sy] = [box.width / (x1 - x0), box.height / (y1 - y0)];
    // One unit is as long on both axes, so that angles are true, where that leaves enough room for either.
    const stretch = sy / sx;
    const equal = stretch < MAX_SQUEEZED && 1 / stretch < MAX_SQUEEZED;
    if (equal) {
      const s = Math.min(sx, sy);
      const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2];
      [x0, x1] = [cx - box.width / s / 2, cx + box.width / s / 2];
      [y0, y1] = [cy - box.height / s / 2, cy + box.height / s / 2];
      sx = sy = s;
    }
    return {
      box, stretch: equal ? 1 : stretch, x0, x1, y0, y1,
      px: (x) => box.x + (x - x0) * sx,
      py: (y) => box.y + box.height - (y - y0) * sy,
      back: (px, py) => [x0 + (px - box.x) / sx, y0 + (box.y + box.height - py) / sy],
    };
  }

  /** The place of the plane under a pixel. */
  placeAt(px, py) {
    return this.#scale().back(px, py);
  }

  /** The drawn row nearest to a pixel, if one is near. */
  nearest(px, py, within = 14) {
    const scale = this.#scale();
    const { x, y } = this.scene.points;
    let best = -1;
    let least = within * within;
    for (let i = 0; i < x.length; i++) {
      const [dx, dy] = [scale.px(x[i]) - px, scale.py(y[i]) - py];
      const distance = dx * dx + dy * dy;
      if (distance <= least) [best, least] = [i, distance];
    }
    return best;
  }

  /** Where a place of the plane is, in pixels. */
  pixelOf(x, y) {
    const scale = this.#scale();
    return [scale.px(x), scale.py(y)];
  }

  /** How much of the plane one pixel is. */
  unit() {
    const [x0, y0] = this.placeAt(0, 0);
    const [x1, y1] = this.placeAt(1, -1);
    return [x1 - x0, y1 - y0];
  }

  #paint(pen, ink) {
    const scale = this.#scale();
    const { box } = scale;
    const { scene } = this;
    pen.within(box.x, box.y, box.width, box.height, () => {
      this.#regions(pen, ink, scale);
      if (scene.band) this.#band(pen, ink, scale, scene.band.line, scene.band.width);
      for (let i = 0; i < (scene.past ?? []).length; i++) {
        const opacity = 0.08 + 0.3 * ((i + 1) / scene.past.length) ** 2;
        const style = { stroke: ink.text, width: 1, opacity };
        if (scene.classes) this.#borders(pen, scale, cells(scale, scene.past[i]), style);
        else this.#line(pen, scale, scene.past[i], style);
      }
      if (scene.classes) this.#borders(pen, scale, cells(scale, scene.classes), { stroke: ink.text, width: scene.result ? 1.6 : 2.4 });
      if (scene.result) this.#borders(pen, scale, cells(scale, scene.result), { stroke: ink.text, width: 2.4, dash: DASHES[1], opacity: 0.95 });
      // Boundaries over each other: a line each, or the borders between several classes.
      for (const { line, classes, dash = 0, side = null, width = 1.8, opacity = 1 } of [...(scene.lines ?? []), ...(scene.borders ?? [])]) {
        const stroke = side === null ? ink.text : ink.sides[side % ink.sides.length];
        const style = { stroke, width, dash: DASHES[dash % DASHES.length], opacity };
        if (classes) this.#borders(pen, scale, cells(scale, classes), style);
        else this.#line(pen, scale, line, style);
      }
      this.#points(pen, ink, scale);
      this.#tags(pen, ink, scale);
      this.#example(pen, ink, scale);
    });
    this.#axes(pen, ink, scale);
    if (scene.vectors) this.#vectors(pen, ink, scale, scene.vectors);
  }

  #regions(pen, ink, scale) {
    const { scene } = this;
    const { region } = scene;
    if (scene.classes) {
      for (const cell of cells(scale, scene.classes)) {
        pen.path(cell.corners.map(([x, y]) => [scale.px(x), scale.py(y)]), { fill: ink.tints[cell.side % ink.tints.length], closed: true });
      }
      return;
    }
    if (region) {
      const width = (region.x[1] - region.x[0]) / region.columns;
      const height = (region.y[1] - region.y[0]) / region.rows;
      for (let j = 0; j < region.rows; j++) {
        for (let i = 0; i < region.columns;) {
          // Neighbours of one class are one rectangle.
          const outcome = scene.cells[j * region.columns + i];
          let end = i + 1;
          while (end < region.columns && scene.cells[j * region.columns + end] === outcome) end++;
          const [left, right] = [scale.px(region.x[0] + i * width), scale.px(region.x[0] + end * width)];
          let [top, bottom] = [scale.py(region.y[0] + (j + 1) * height), scale.py(region.y[0] + j * height)];
          if (region.rows === 1) [top, bottom] = [scale.box.y, scale.box.y + scale.box.height];
          const [x1, y1, x2, y2] = [Math.floor(left), Math.floor(top), Math.ceil(right), Math.ceil(bottom)];
          pen.path([[x1, y1], [x2, y1], [x2, y2], [x1, y2]], { fill: ink.tints[outcome % ink.tints.length], closed: true });
          i = end;
        }
      }
      return;
    }
    const line = scene.half;
    if (!line || (line[0] === 0 && line[1] === 0)) return;
    for (const [side, sign] of [[1, 1], [0, -1]]) {
      const corners = this.#halfPlane(scale, line.map((value) => value * sign), 0);
      if (corners.length > 2) pen.path(corners, { fill: ink.tints[side], closed: true });
    }
  }

  /** The part of the box where a·x + b·y + c ≥ level, in pixels. */
  #halfPlane(scale, [a, b, c], level) {
    const corners = [[scale.x0, scale.y0], [scale.x1, scale.y0], [scale.x1, scale.y1], [scale.x0, scale.y1]];
    const value = ([x, y]) => a * x + b * y + c - level;
    const kept = [];
    corners.forEach((corner, i) => {
      const next = corners[(i + 1) % 4];
      const [here, there] = [value(corner), value(next)];
      if (here >= 0) kept.push(corner);
      if ((here < 0) !== (there < 0)) {
        const t = here / (here - there);
        kept.push([corner[0] + t * (next[0] - corner[0]), corner[1] + t * (next[1] - corner[1])]);
      }
    });
    return kept.map(([x, y]) => [scale.px(x), scale.py(y)]);
  }

  #ends(scale, [a, b, c]) {
    const reach = 4 * Math.max(scale.x1 - scale.x0, scale.y1 - scale.y0);
    const square = a * a + b * b;
    if (!(square > 0)) return null;
    // The point of the line nearest to the middle of the picture, and a step along it on each side.
    const [mx, my] = [(scale.x0 + scale.x1) / 2, (scale.y0 + scale.y1) / 2];
    const off = (a * mx + b * my + c) / square;
    const [fx, fy] = [mx - off * a, my - off * b];
    const length = Math.sqrt(square);
    const [dx, dy] = [(-b / length) * reach, (a / length) * reach];
    return [[scale.px(fx - dx), scale.py(fy - dy)], [scale.px(fx + dx), scale.py(fy + dy)]];
  }

  #line(pen, scale, line, style) {
    const ends = line && this.#ends(scale, line);
    if (ends) pen.path(ends, style);
  }

  /** The boundaries between classes, each once. */
  #borders(pen, scale, found, style) {
    for (const piece of pieces(scale, found)) pen.path(piece, style);
  }

  /** The number of each boundary that has one, on it: evenly one after the other, so that boundaries close to each other keep theirs apart. */
  #tags(pen, ink, scale) {
    const tagged = [...(this.scene.lines ?? []), ...(this.scene.borders ?? [])].filter((one) => one.tag);
    tagged.forEach(({ line, classes, tag, side }, k) => {
      const ends = line && this.#ends(scale, line);
      const parts = (line ? ends && [ends] : pieces(scale, cells(scale, classes)))?.map((part) => clipped(part, scale.box)).filter(Boolean) ?? [];
      const place = along(parts, (k + 0.5) / tagged.length);
      if (!place) return;
      pen.circle(...place, 8.5, { fill: ink.surface, stroke: ink.sides[side % ink.sides.length], width: 1.8 });
      pen.text(place[0], place[1] + 3.8, String(tag), { fill: ink.text, size: 11, align: "center", weight: 600 });
    });
  }

  #band(pen, ink, scale, [a, b, c], width) {
    const one = this.#ends(scale, [a, b, c - width]);
    const other = this.#ends(scale, [a, b, c + width]);
    if (!one || !other) return;
    pen.path([one[0], one[1], other[1], other[0]], { fill: ink.accent, opacity: 0.12, closed: true });
    for (const ends of [one, other]) pen.path(ends, { stroke: ink.accent, width: 1, dash: [5, 4], opacity: 0.9 });
  }

  #points(pen, ink, scale) {
    const { points, mistakes, selected = -1 } = this.scene;
    const { x, y, side, mark, witness } = points;
    if (!x) return;
    const many = x.length > 1500;
    const base = many ? 2 : x.length > 300 ? 3.2 : 4.6;
    for (let i = 0; i < x.length; i++) {
      const [px, py] = [scale.px(x[i]), scale.py(y[i])];
      const count = mistakes ? mistakes[i] : 0;
      const radius = base + (count ? Math.min(7, (many ? 0.8 : 1.5) * Math.sqrt(count)) : 0);
      shape(pen, px, py, radius, side[i], ink, many ? 0.6 : 0.9);
      if (mark?.[i]) {
        const ring = mark[i] === 2 ? ink.bad : ink.accent;
        pen.circle(px, py, base + 6, { stroke: ring, width: 2.2, dash: mark[i] === 2 ? [3, 2.5] : [] });
        if (mark[i] === 2 && witness?.[i]) pen.circle(px, py, base + 9.5, { stroke: ink.accent, width: 2.2 });
      }
      if (i === selected) pen.circle(px, py, radius + 5, { stroke: ink.text, width: 1.6, dash: [2, 2] });
    }
  }

  /** The example of the update: a ring, and an arrow from the old boundary to the new one beside it. */
  #example(pen, ink, scale) {
    const { example, cursor } = this.scene;
    if (cursor) {
      const [px, py] = [scale.px(cursor[0]), scale.py(cursor[1])];
      pen.path([[px - 10, py], [px + 10, py]], { stroke: ink.text, width: 1.4 });
      pen.path([[px, py - 10], [px, py + 10]], { stroke: ink.text, width: 1.4 });
    }
    if (!example) return;
    const [px, py] = [scale.px(example.x), scale.py(example.y)];
    pen.circle(px, py, 11, { stroke: ink.bad, width: 2.2 });
    const foot = (line) => {
      const ends = line && this.#ends(scale, line);
      if (!ends) return null;
      const [[ax, ay], [bx, by]] = ends;
      const [dx, dy] = [bx - ax, by - ay];
      const t = ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy);
      return [ax + t * dx, ay + t * dy];
    };
    const [from, to] = [foot(example.before), foot(example.after)];
    const length = from && to ? Math.hypot(to[0] - from[0], to[1] - from[1]) : 0;
    if (length <= 8) return;
    const part = Math.min(1, 64 / length);
    arrow(pen, [to[0] - part * (to[0] - from[0]), to[1] - part * (to[1] - from[1])], to, { stroke: ink.bad, width: 2 });
  }

  /** The middle of a box in the corner where it hides the fewest rows. */
  #corner({ box, px, py }, half) {
    const { points } = this.scene;
    const size = `${box.width}×${box.height}`;
    if (this.room?.points === points && this.room.size === size) return this.room.at;
    const [left, right] = [box.x + half + 4, box.x + box.width - half - 4];
    const [top, bottom] = [box.y + half + 18, box.y + box.height - half - 4];
    const hidden = ([cx, cy]) => {
      let count = 0;
      for (let i = 0; i < points.x.length; i++) count += Math.abs(px(points.x[i]) - cx) < half + 6 && Math.abs(py(points.y[i]) - cy + 7) < half + 13;
      return count;
    };
    const places = [[right, top], [right, bottom], [left, bottom], [left, top]].map((at) => ({ at, count: hidden(at) }));
    const best = places.reduce((one, other) => (other.count < one.count ? other : one));
    this.room = { points, size, at: best.at };
    return best.at;
  }

  /** θ before, what the update adds, θ after: as arrows in a corner. */
  #vectors(pen, ink, scale, { before, after }) {
    const size = Math.min(104, scale.box.width / 4);
    const title = "θ + z = new θ";
    const half = Math.max(size, textWidth(title, 11)) / 2 + 4;
    const [cx, cy] = this.#corner(scale, half);
    const all = [before, after, [0, 0]];
    const middle = [0, 1].map((axis) => (Math.max(...all.map((one) => one[axis])) + Math.min(...all.map((one) => one[axis]))) / 2);
    const most = Math.max(...all.flatMap((one) => one.map((value, axis) => Math.abs(value - middle[axis]))), 1e-300);
    const k = (0.42 * size) / most;
    const at = ([x, y]) => [cx + (x - middle[0]) * k, cy - (y - middle[1]) * k];
    pen.path([[cx - half, cy - half - 14], [cx + half, cy - half - 14], [cx + half, cy + half], [cx - half, cy + half]],
      { fill: ink.surface, stroke: ink.line, opacity: 0.94, closed: true });
    pen.text(cx, cy - half - 1, title, { fill: ink.quiet, size: 11, align: "center" });
    pen.circle(...at([0, 0]), 2, { fill: ink.quiet });
    arrow(pen, at([0, 0]), at(before), { stroke: ink.quiet, width: 1.6, dash: [3, 2] });
    arrow(pen, at(before), at(after), { stroke: ink.bad, width: 2 });
    arrow(pen, at([0, 0]), at(after), { stroke: ink.text, width: 2 });
  }

  #axes(pen, ink, scale) {
    const { box } = scale;
    const [across, up] = this.scene.axes;
    pen.path([[box.x, box.y], [box.x, box.y + box.height], [box.x + box.width, box.y + box.height]], { stroke: ink.line, width: 1 });
    for (const tick of ticksApart(scale, across)) {
      const x = scale.px(tick.at);
      pen.path([[x, box.y + box.height], [x, box.y + box.height + 4]], { stroke: ink.line });
      // In the middle below its mark, but not beyond the picture.
      const half = textWidth(tick.text, TICK) / 2;
      const middle = Math.max(half + 2, Math.min(box.x + box.width + MARGIN.right - 2 - half, x));
      pen.text(middle, box.y + box.height + 17, tick.text, { fill: ink.quiet, size: TICK, align: "center" });
    }
    if (!this.scene.flat) {
      for (const tick of this.#upTicks(scale)) {
        const y = scale.py(tick.at);
        pen.path([[box.x - 4, y], [box.x, y]], { stroke: ink.line });
        pen.text(box.x - 7, y + 4, tick.text, { fill: ink.quiet, size: TICK, align: "right" });
      }
    }
    const room = box.x + box.width;
    // Which axis is stretched beside the other, and by how much.
    const stretched = (name, by) => (by > 1 && !this.scene.flat ? `${name}, stretched ${by < 10 ? by.toFixed(1) : Math.round(by)}×` : name);
    const name = cut(stretched(across.name, 1 / scale.stretch), room);
    const half = textWidth(name, 12) / 2;
    const middle = Math.max(half + 4, Math.min(room + MARGIN.right - 4 - half, box.x + box.width / 2));
    pen.text(middle, box.y + box.height + 36, name, { fill: ink.text, size: 12, align: "center" });
    if (!this.scene.flat) pen.text(14, box.y - 11, cut(`↑ ${stretched(up.name, scale.stretch)}`, room - 10), { fill: ink.text, size: 12 });
  }
}

/** The straight pieces of the boundaries between classes, in pixels, each once. */
function pieces(scale, found) {
  return found.flatMap(({ side, corners, rivals }) => corners.flatMap(([x, y], i) => {
    if (rivals[i] <= side) return [];
    const [nx, ny] = corners[(i + 1) % corners.length];
    return [[[scale.px(x), scale.py(y)], [scale.px(nx), scale.py(ny)]]];
  }));
}

/** The part of a piece within a box; null if none is. */
function clipped([[ax, ay], [bx, by]], { x, y, width, height }) {
  let [from, to] = [0, 1];
  for (const [at, step, low, high] of [[ax, bx - ax, x, x + width], [ay, by - ay, y, y + height]]) {
    if (step === 0) {
      if (at < low || at > high) return null;
      continue;
    }
    const [one, other] = [(low - at) / step, (high - at) / step];
    from = Math.max(from, Math.min(one, other));
    to = Math.min(to, Math.max(one, other));
  }
  return from < to ? [from, to].map((t) => [ax + t * (bx - ax), ay + t * (by - ay)]) : null;
}

/** The place at a share of the length of pieces, one after the other. */
function along(parts, share) {
  const lengths = parts.map(([[ax, ay], [bx, by]]) => Math.hypot(bx - ax, by - ay));
  let rest = share * lengths.reduce((sum, length) => sum + length, 0);
  for (let i = 0; i < parts.length; i++) {
    if (rest <= lengths[i]) {
      const [[ax, ay], [bx, by]] = parts[i];
      return [ax + (rest / lengths[i]) * (bx - ax), ay + (rest / lengths[i]) * (by - ay)];
    }
    rest -= lengths[i];
  }
  return null;
}

/**
 * Where each class has the largest score: the corners of its part of the picture, and for the side that begins at each corner the
 * class beyond it (-1 at the edge of the picture). Of equal scores the lowest class counts.
 */
export function cells({ x0, x1, y0, y1 }, scores) {
  const found = [];
  scores.forEach((own, side) => {
    let corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
    let rivals = [-1, -1, -1, -1];
    for (let rival = 0; rival < scores.length && corners.length; rival++) {
      if (rival === side) continue;
      const [a, b, c] = own.map((value, i) => value - scores[rival][i]);
      if (a === 0 && b === 0 && c === 0) {
        if (rival < side) corners = [];
        continue;
      }
      const values = corners.map(([x, y]) => a * x + b * y + c);
      if (values.every((value) => value >= 0)) continue;
      const [kept, beyond] = [[], []];
      corners.forEach((corner, i) => {
        const next = (i + 1) % corners.length;
        const [here, there] = [values[i], values[next]];
        const crossing = () => corner.map((value, axis) => value + (here / (here - there)) * (corners[next][axis] - value));
        if (here >= 0) { kept.push(corner); beyond.push(rivals[i]); }
        if (here >= 0 && there < 0) { kept.push(crossing()); beyond.push(rival); }
        if (here < 0 && there >= 0) { kept.push(crossing()); beyond.push(rivals[i]); }
      });
      [corners, rivals] = [kept, beyond];
    }
    if (corners.length > 2) found.push({ side, corners, rivals });
  });
  return found;
}

/** A name that is at most so wide: its end is left out if need be. */
function cut(name, room) {
  if (textWidth(name, 12) <= room) return name;
  const letters = [...name].slice(0, 300);
  while (letters.length && textWidth(`${letters.join("")}…`, 12) > room) letters.pop();
  return `${letters.join("")}…`;
}

/** The numbers at the axis across: fewer, where long ones would run into each other. */
function ticksApart(scale, axis) {
  for (let wanted = scale.box.width / 70; wanted >= 1; wanted -= 0.5) {
    const found = ticks(scale.x0, scale.x1, axis, wanted);
    const half = found.map((tick) => textWidth(tick.text, TICK) / 2);
    if (found.every((tick, i) => !i || scale.px(tick.at) - scale.px(found[i - 1].at) >= half[i] + half[i - 1] + 10)) return found;
  }
  return ticks(scale.x0, scale.x1, axis, 1).slice(0, 1);
}

/** Round values in the units of the file, and where they are. Neighbours differ, however large they are beside their differences. */
export function ticks(from, to, { mean, divisor }, wanted) {
  const [low, high] = [from * divisor + mean, to * divisor + mean];
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [];
  const rough = span / Math.max(1, wanted);
  let exponent = Math.floor(Math.log10(rough));
  const times = [1, 2, 5].find((by) => by * 10 ** exponent >= rough) ?? 1;
  if (times === 1 && 10 ** exponent < rough) exponent++;
  const step = Number(`${times}e${exponent}`);
  const most = Math.max(Math.abs(low), Math.abs(high));
  const needed = Math.max(3, Math.min(17, Math.floor(Math.log10(most)) - exponent));
  const text = (value) => {
    if (value === 0) return "0";
    if ((most >= 1e-4 && most < 1e7) || (needed > 3 && most >= 1e7 && most < 1e15)) return fixed(value, Math.max(0, Math.min(12, -exponent)));
    return value.toExponential(needed).replace(/\.?0*e\+?/, "e").replaceAll("-", "−");
  };
  const found = [];
  const first = Math.ceil(low / step);
  for (let k = 0; k < 30 && (first + k) * step <= high; k++) {
    const value = Number(`${(first + k) * times}e${exponent}`);
    const shown = text(value);
    if (shown !== found.at(-1)?.text) found.push({ at: (value - mean) / divisor, text: shown });
  }
  return found;
}

export function arrow(pen, from, to, style) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  if (length < 3) return;
  const [ux, uy] = [dx / length, dy / length];
  const head = Math.min(8, length / 2);
  pen.path([from, [to[0] - ux * head * 0.7, to[1] - uy * head * 0.7]], style);
  pen.path([to, [to[0] - head * (ux + 0.5 * uy), to[1] - head * (uy - 0.5 * ux)], [to[0] - head * (ux - 0.5 * uy), to[1] - head * (uy + 0.5 * ux)]],
    { fill: style.stroke, closed: true });
}

/** Each class has a shape of its own, so that nothing depends on colour. */
export function shape(pen, x, y, r, side, ink, opacity = 1) {
  const colour = ink.sides[side % ink.sides.length];
  const full = { fill: colour, opacity };
  const open = { fill: ink.surface, stroke: colour, width: r > 3 ? 1.8 : 1.2, opacity: Math.min(1, opacity + 0.1) };
  switch (side % 6) {
    case 0: return pen.path([[x - r, y - r], [x + r, y - r], [x + r, y + r], [x - r, y + r]].map(([px, py]) => [x + (px - x) * 0.88, y + (py - y) * 0.88]), { ...open, closed: true });
    case 1: return pen.circle(x, y, r, full);
    case 2: return pen.path([[x, y - r * 1.2], [x + r * 1.05, y + r * 0.8], [x - r * 1.05, y + r * 0.8]], { ...full, closed: true });
    case 3: return pen.path([[x, y - r * 1.25], [x + r * 1.25, y], [x, y + r * 1.25], [x - r * 1.25, y]], { ...open, closed: true });
    case 4: return pen.path([[x - r, y - r * 0.8], [x + r, y - r * 0.8], [x, y + r * 1.2]], { ...open, closed: true });
    default: return pen.circle(x, y, r, open);
  }
}

export { PAST };
