// Elements of the page. Texts are always set as texts: nothing from data, errors or names is ever read as markup.

/** Makes an element: properties, `on…` listeners, `aria-…` and `data-…` attributes, then children or texts. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name.includes("-") || name === "role" || name === "for" || name === "list") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Replaces what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
}

/** A whole number with thin spaces between thousands, as in reports. */
export function grouped(number) {
  const text = String(Math.round(number));
  return Math.abs(number) < 10000 ? text : text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A number in about four digits. */
export function short(number) {
  if (!Number.isFinite(number)) return "–";
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 1e6 || size < 1e-4) return number.toExponential(3).replace("e+", "e").replace("-", "−").replace("e-", "e−");
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
