// How a file is read: a field for each option of reading, as the registry has them.

import { el, fill, freshId } from "./dom.js";
import { meant, textOf, valueAt, withValue } from "./form.js";

/** Which fields stand together; the first group is always open. */
const GROUPS = [["tables", null], ["files", "Format"], ["texts", "Texts"], ["pictures", "Pictures"], ["limits", "Limits"]];

const listed = (text) => text.split(",").map((part) => part.trim()).filter(Boolean);

export class Reading {
  constructor(container, fields) {
    this.fields = fields;
    this.inputs = new Map();
    fill(container, GROUPS.map(([of, title]) => {
      const own = fields.filter((field) => field.of === of);
      const parts = [el("div", { class: "fields" }, own.filter((field) => field.kind !== "flag").map((field) => this.#field(field))),
        ...own.filter((field) => field.kind === "flag").map((field) => this.#flag(field))];
      return title ? el("details", {}, el("summary", {}, title), parts) : el("div", {}, parts);
    }));
  }

  #field(field) {
    const id = `read-${field.name}`;
    const helpId = freshId("help");
    const described = { "aria-describedby": helpId };
    const help = field.default ? `${field.help}; by default ${field.default}` : field.help;
    const choices = field.kind === "choice" ? field.values.map((one) => one.name) : null;
    const input = choices
      ? el("select", { id, ...described }, el("option", { value: "" }, "default"), choices.map((name) => el("option", { value: name }, name)))
      : el("input", { id, type: "text", autocomplete: "off", placeholder: "default", inputMode: ["whole", "size"].includes(field.kind) ? "numeric" : "text", ...described });
    this.inputs.set(field.at, input);
    return el("div", { class: "field" }, el("label", { for: id }, field.label), input, el("p", { class: "help", id: helpId }, help));
  }

  #flag(field) {
    const input = el("input", { id: `read-${field.name}`, type: "checkbox" });
    this.inputs.set(field.at, input);
    return el("label", { class: "check", title: field.help }, input, field.label);
  }

  /** Shows how a file was read. */
  show(options) {
    for (const field of this.fields) {
      const { at, kind } = field;
      const input = this.inputs.get(at);
      const value = valueAt(options, at);
      if (kind === "flag") input.checked = value === true;
      else if (value === undefined || value === null) input.value = "";
      else if (kind === "list") input.value = value.join(", ");
      else if (kind === "pairs") input.value = Object.entries(value).map(([name, what]) => `${name}=${what}`).join(", ");
      else input.value = String(textOf(field, value) ?? "");
      input.closest("details details")?.toggleAttribute("open", Boolean(input.checked || (kind !== "flag" && input.value)) || input.closest("details").open);
    }
  }

  /** The options that the fields say. */
  options() {
    let options = {};
    for (const field of this.fields) {
      const { at, kind } = field;
      const input = this.inputs.get(at);
      const text = kind === "flag" ? (input.checked ? "yes" : "") : input.value.trim();
      // A space is a delimiter too, and is not to be trimmed.
      if (!text && !(at === "csv.delimiter" && input.value === " ")) continue;
      options = withValue(options, at, kind === "choice" ? meant(field, text) : given(kind, text || "space"));
    }
    return options;
  }
}

/** What a text stands for. What is wrong is said by the engine. */
function given(kind, text) {
  if (kind === "flag") return true;
  if (kind === "list") return listed(text);
  if (kind === "whole" || kind === "size") return /^\d+$/.test(text) ? Number(text) : text;
  if (kind === "pairs") return Object.fromEntries(listed(text).map((pair) => [pair.slice(0, pair.lastIndexOf("=")), pair.slice(pair.lastIndexOf("=") + 1)]));
  return text;
}
