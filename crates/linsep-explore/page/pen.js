// Two ways to draw the same picture: on a canvas, fast; and as SVG, to be saved.

import { harmless } from "./dom.js";

const NS = "http://www.w3.org/2000/svg";

/** Draws on a canvas of so many CSS pixels. */
export class CanvasPen {
  constructor(canvas, width, height) {
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    this.context = canvas.getContext("2d");
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
    this.width = width;
    this.height = height;
  }

  #style({ fill, stroke, width = 1, dash = [], opacity = 1 }) {
    const { context } = this;
    context.globalAlpha = opacity;
    context.setLineDash(dash);
    context.lineWidth = width;
    if (fill) context.fillStyle = fill;
    if (stroke) context.strokeStyle = stroke;
  }

  #paint(style) {
    this.#style(style);
    if (style.fill) this.context.fill();
    if (style.stroke) this.context.stroke();
  }

  path(points, style) {
    const { context } = this;
    context.beginPath();
    points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    if (style.closed) context.closePath();
    this.#paint(style);
  }

  circle(x, y, radius, style) {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.#paint(style);
  }

  text(x, y, text, { fill, size = 12, align = "start", weight = 400, opacity = 1 }) {
    this.#style({ fill, opacity });
    this.context.font = `${weight} ${size}px ${FONT}`;
    this.context.textAlign = align;
    this.context.textBaseline = "alphabetic";
    this.context.fillText(harmless(text), x, y);
  }

  within(x, y, width, height, draw) {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    draw();
    context.restore();
  }
}

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";

const ruler = document.createElement("canvas").getContext("2d");
/** How wide a text is, in pixels. */
export function textWidth(text, size) {
  ruler.font = `400 ${size}px ${FONT}`;
  return ruler.measureText(harmless(text)).width;
}

/** An element of SVG; attributes that are undefined are left out. */
export function svgElement(name, attributes) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(key, value);
  return element;
}

/** Writes SVG. Texts become text nodes, so that no name is read as markup. */
export class SvgPen {
  constructor(width, height, title, background) {
    this.root = document.createElementNS(NS, "svg");
    this.at = this.root;
    this.width = width;
    this.height = height;
    this.clips = 0;
    const attributes = { xmlns: NS, viewBox: `0 0 ${width} ${height}`, width, height, role: "img" };
    for (const [name, value] of Object.entries(attributes)) this.root.setAttribute(name, value);
    this.#add("title", {}).textContent = harmless(title);
    this.#add("rect", { width, height, fill: background });
  }

  #add(name, attributes) {
    const element = svgElement(name, attributes);
    this.at.append(element);
    return element;
  }

  #styled({ fill, stroke, width = 1, dash = [], opacity = 1 }) {
    return {
      fill: fill ?? "none",
      stroke: stroke ?? undefined,
      "stroke-width": stroke ? width : undefined,
      "stroke-dasharray": dash.length ? dash.join(" ") : undefined,
      opacity: opacity === 1 ? undefined : round(opacity),
    };
  }

  path(points, style) {
    const steps = points.map(([x, y], i) => `${i ? "L" : "M"}${round(x)} ${round(y)}`).join("");
    this.#add("path", { d: steps + (style.closed ? "Z" : ""), ...this.#styled(style) });
  }

  circle(x, y, r, style) {
    this.#add("circle", { cx: round(x), cy: round(y), r: round(r), ...this.#styled(style) });
  }

  text(x, y, text, { fill, size = 12, align = "start", weight = 400, opacity = 1 }) {
    const anchor = { center: "middle", end: "end", right: "end" }[align];
    const attributes = { x: round(x), y: round(y), fill, "font-size": size, "font-family": FONT, "text-anchor": anchor };
    if (weight !== 400) attributes["font-weight"] = weight;
    if (opacity !== 1) attributes.opacity = opacity;
    this.#add("text", attributes).textContent = harmless(text);
  }

  within(x, y, width, height, draw) {
    const id = `clip${++this.clips}`;
    const clip = this.#add("clipPath", { id });
    const rect = document.createElementNS(NS, "rect");
    for (const [key, value] of Object.entries({ x, y, width, height })) rect.setAttribute(key, value);
    clip.append(rect);
    const outer = this.at;
    this.at = this.#add("g", { "clip-path": `url(#${id})` });
    draw();
    this.at = outer;
  }

  blob() {
    return new Blob([new XMLSerializer().serializeToString(this.root)], { type: "image/svg+xml" });
  }
}

const round = (number) => Math.round(number * 100) / 100;
