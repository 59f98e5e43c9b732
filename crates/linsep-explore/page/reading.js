// How a file is read: a field for each option of reading, as the registry has them.

import { el, fill, freshId } from "./dom.js";

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
    const described = field.help ? { "aria-describedby": helpId } : {};
    const choices = { choice: field.values.map((one) => one.name), answer: ["yes", "no"] }[field.kind];
    const input = choices
      ? el("select", { id, ...described }, el("option", { value: "" }, "default"), choices.map((name) => el("option", { value: name }, name)))
      : el("input", { id, type: "text", autocomplete: "off", placeholder: "default", inputMode: field.kind === "whole" ? "numeric" : "text", ...described });
    this.inputs.set(field.at, input);
    return el("div", { class: "field" }, el("label", { for: id }, field.label), input, field.help ? el("p", { class: "help", id: helpId }, field.help) : null);
  }

  #flag(field) {
    const input = el("input", { id: `read-${field.name}`, type: "checkbox" });
    this.inputs.set(field.at, input);
    return el("label", { class: "check", title: field.help }, input, field.label);
  }

  /** Shows how a file was read. */
  show(options) {
    for (const { at, kind } of this.fields) {
      const input = this.inputs.get(at);
      const value = at.split(".").reduce((inner, name) => inner?.[name], options);
      if (kind === "flag") input.checked = value === true;
      else if (value === undefined || value === null) input.value = "";
      else if (kind === "list") input.value = value.join(", ");
      else if (kind === "pairs") input.value = Object.entries(value).map(([name, what]) => `${name}=${what}`).join(", ");
      else if (kind === "answer") input.value = value ? "yes" : "no";
      else input.value = String(value);
      input.closest("details details")?.toggleAttribute("open", Boolean(input.checked || (kind !== "flag" && input.value)) || input.closest("details").open);
    }
  }

  /** The options that the fields say. */
  options() {
    const options = {};
    for (const { at, kind } of this.fields) {
      const input = this.inputs.get(at);
      const text = kind === "flag" ? (input.checked ? "yes" : "") : input.value.trim();
      // A space is a delimiter too, and is not to be trimmed.
      if (!text && !(at === "csv.delimiter" && input.value === " ")) continue;
      const path = at.split(".");
      const last = path.pop();
      const inner = path.reduce((outer, name) => (outer[name] ??= {}), options);
      inner[last] = given(kind, text || "space");
    }
    return options;
  }
}

/** What a text stands for. What is wrong is said by the engine. */
function given(kind, text) {
  if (kind === "flag") return true;
  if (kind === "answer") return text === "yes";
  if (kind === "list") return listed(text);
  if (kind === "whole") return /^\d+$/.test(text) ? Number(text) : text;
  if (kind === "pairs") return Object.fromEntries(listed(text).map((pair) => [pair.slice(0, pair.lastIndexOf("=")), pair.slice(pair.lastIndexOf("=") + 1)]));
  return text;
}
