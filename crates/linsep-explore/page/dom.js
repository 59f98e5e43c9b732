// Elements of the page. Texts are always set as texts: nothing from data, errors or names is ever read as markup, and none of it
// turns the text around it.

/** A text without characters that are none, or that turn the text around them: a name from a file cannot disguise itself. */
export const harmless = (text) => String(text).replace(/[\u202a-\u202e\u2066-\u2069\ufffe\uffff]|(?![\n\t])\p{Cc}/gu, "\ufffd");

/** Children of an element: elements, or harmless texts. */
const shown = (children) => children.flat().filter((child) => child !== null && child !== undefined)
  .map((child) => (child instanceof Node ? child : harmless(child)));

/** Properties that are read as texts. */
const TEXTS = new Set(["textContent", "title", "label", "placeholder", "alt"]);

/** Makes an element: properties, `on…` listeners, `aria-…` and `data-…` attributes, then children or texts. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name.includes("-") || name === "role" || name === "for" || name === "list") element.setAttribute(name, harmless(value));
    else element[name] = TEXTS.has(name) ? harmless(value) : value;
  }
  element.append(...shown(children));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Replaces what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren(...shown(children));
}

/** Sets the text of the element with this id. */
export function write(id, text) {
  byId(id).textContent = harmless(text);
}

/** Digits with commas between thousands. */
const commas = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/** A whole number with its thousands apart, as in reports. */
export const grouped = (number) => commas(String(Math.round(number)));

/** `1 row`, `2 rows`. */
export const counted = (number, one, many) => `${grouped(number)} ${number === 1 ? one : many}`;

/** A bound in four digits that stays a bound: the same digits as the program prints. */
function bound(number, up) {
  if (!Number.isFinite(number)) return "–";
  if (Number.isInteger(number) && Math.abs(number) < 1e6) return grouped(number).replace("-", "−");
  const text = number.toExponential(3);
  let exponent = Number(text.split("e")[1]);
  let digits = Math.round(Number(text.split("e")[0]) * 1000);
  const value = () => Number(`${digits}e${exponent - 3}`);
  // Four digits are the nearest ones; a step is made where those are on the wrong side.
  if (up && value() < number) digits++;
  if (!up && value() > number) digits--;
  if (Math.abs(digits) >= 10000) [digits, exponent] = [digits / 10, exponent + 1];
  else if (digits === 999) [digits, exponent] = [9999, exponent - 1];
  const trimmed = (fixed) => (fixed.includes(".") ? fixed.replace(/\.?0+$/, "") : fixed);
  if (exponent >= -4 && exponent < 15) return fixed(value(), Math.max(0, 3 - exponent), trimmed);
  return `${trimmed((digits / 1000).toFixed(3))}e${exponent}`.replaceAll("-", "−");
}

/** What a number is at least, and at most: proved bounds are rounded away from each other. */
export const atLeast = (number) => bound(number, false);
export const atMost = (number) => bound(number, true);

/** A number with so many digits after the point. */
export function fixed(number, decimals, trimmed = (text) => text) {
  const [whole, rest = ""] = trimmed(number.toFixed(decimals)).split(".");
  return `${commas(whole)}${rest && `.${rest}`}`.replace("-", "−");
}

/** A number in about four digits, the nearest ones: for what is measured, not for bounds. */
export function short(number) {
  if (!Number.isFinite(number)) return "–";
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 1e6 || size < 1e-4) return number.toExponential(3).replace("e+", "e").replaceAll("-", "−");
  const text = size >= 1000 ? grouped(number) : String(Number(number.toPrecision(4)));
  return text.replace("-", "−");
}

let last = 0;
/** An id that no other element has. */
export const freshId = (base) => `${base}-${++last}`;

/** Calls a function once, a while after the last request for it. */
export function debounced(milliseconds, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}

/** Saves bytes as a file of the user. */
export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
