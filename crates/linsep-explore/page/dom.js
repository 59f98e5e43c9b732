// Elements of the page. Texts are always set as texts: nothing from data, errors or names is ever read as markup, and none of it
// turns the text around it.

/** A text without characters that are none, or that turn the text around them: a name from a file cannot disguise itself. */
export const harmless = (text) => String(text).replace(/[\p{Bidi_Control}\ufffe\uffff]|(?![\n\t])\p{Cc}/gu, "\ufffd");

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

/** A name that may be long: its beginning and its end, with all of it in the title. */
export function brief(name, most = 40) {
  const letters = [...String(name)];
  if (letters.length <= most) return name;
  return el("span", { title: name }, shortened(name, most));
}

/** The beginning and the end of a long text. */
export function shortened(name, most = 40) {
  const letters = [...String(name)];
  const half = Math.floor((most - 1) / 2);
  return letters.length <= most ? String(name) : `${letters.slice(0, most - 1 - half).join("")}…${letters.slice(-half).join("")}`;
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

/** A bound that stays a bound, in four digits or as many as are wanted: the same digits as the program prints. */
function bound(number, up, wanted = 4) {
  if (!Number.isFinite(number)) return "–";
  if (Number.isInteger(number) && Math.abs(number) < 1e6) return grouped(number).replace("-", "−");
  const rest = wanted - 1;
  const text = number.toExponential(rest);
  let exponent = Number(text.split("e")[1]);
  let digits = Number(text.split("e")[0].replace(".", ""));
  const value = () => Number(`${digits}e${exponent - rest}`);
  // These digits are the nearest ones; a step is made where they are on the wrong side.
  if (up && value() < number) digits++;
  if (!up && value() > number) digits--;
  if (Math.abs(digits) >= 10 ** wanted) [digits, exponent] = [digits / 10, exponent + 1];
  else if (digits === 10 ** rest - 1) [digits, exponent] = [10 ** wanted - 1, exponent - 1];
  const trimmed = (fixed) => (fixed.includes(".") ? fixed.replace(/\.?0+$/, "") : fixed);
  if (exponent >= -4 && exponent < 15) return fixed(value(), Math.max(0, rest - exponent), trimmed);
  return `${trimmed((digits / 10 ** rest).toFixed(rest))}e${exponent}`.replaceAll("-", "−");
}

/** The number that a text of this page stands for. */
const valueOf = (text) => Number(text.replaceAll(",", "").replaceAll("−", "-"));

/** A number on its side of another that is printed beside it: in as many digits as that takes, and at least four. */
function beside(number, limit, up) {
  for (let wanted = 4; wanted < 16; wanted++) {
    const text = bound(number, up, wanted);
    if (up ? valueOf(text) <= valueOf(limit) : valueOf(text) >= valueOf(limit)) return text;
  }
  return bound(number, up, 16);
}

/** What a number is at most, and not above the text of its ceiling; what it is at least, and not below that of its floor. */
export const atMostBelow = (number, ceiling) => beside(number, ceiling, true);
export const atLeastAbove = (number, floor) => beside(number, floor, false);

/** “=” where the text is the number itself, else what it is instead. */
export const sign = (text, number, otherwise = "≈") => (valueOf(text) === number ? "=" : otherwise);

/** The product of two numbers as they are printed, with all its digits: whoever multiplies them finds the same. */
export function product(one, other) {
  if (!Number.isFinite(valueOf(one) * valueOf(other))) return "–";
  const parts = [one, other].map((text) => {
    const [mantissa, exponent = "0"] = text.replaceAll(",", "").replaceAll("−", "-").split("e");
    const [whole, rest = ""] = mantissa.split(".");
    return { digits: BigInt(whole + rest), exponent: Number(exponent) - rest.length };
  });
  let digits = parts[0].digits * parts[1].digits;
  let exponent = parts[0].exponent + parts[1].exponent;
  if (digits === 0n) return "0";
  while (digits % 10n === 0n) [digits, exponent] = [digits / 10n, exponent + 1];
  const minus = digits < 0n ? "−" : "";
  const text = String(digits < 0n ? -digits : digits);
  const size = text.length + exponent - 1;
  if (size < -4 || size >= 15) return `${minus}${text[0]}${text.length > 1 ? `.${text.slice(1)}` : ""}e${size}`.replaceAll("-", "−");
  if (exponent >= 0) return minus + commas(text + "0".repeat(exponent));
  const padded = text.padStart(1 - exponent, "0");
  return `${minus}${commas(padded.slice(0, exponent))}.${padded.slice(exponent)}`;
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
