// The form of a training job, made from the registry of learners.

import { el, fill, freshId } from "./dom.js";

/** Settings that the page shows at once; the others are behind “More settings”. */
const FIRST = ["scale", "order", "seed"];
/** Settings of the registry that this form does not offer, and why. */
const LEFT_OUT = new Set([
  "probabilities", // needs held-out scores, which nothing here shows
]);

const named = (name) => name.replaceAll("_", " ");

export class Form {
  constructor(container, about, onChange) {
    this.container = container;
    this.about = about;
    this.onChange = onChange;
    this.settings = {};
  }

  /** Shows these settings: fields of a training specification. */
  show(settings) {
    this.settings = structuredClone(settings);
    const chosen = this.learner();
    const learner = el("select", { id: "learner", onchange: (event) => {
      this.settings.learner = event.target.value || undefined;
      delete this.settings.options;
      this.#changed(true);
    } }, el("option", { value: "" }, "default of linsep train"), this.about.learners.map((one) => el("option", { value: one.name }, `${one.name}`)));
    learner.value = settings.learner ?? "";
    const summary = chosen ? chosen.summary : `The default: ${this.about.default_learner}`;
    const fields = [el("div", { class: "field wide" }, el("label", { for: "learner" }, "Learner"), learner, el("p", { class: "help", id: "learner-help" }, summary))];
    learner.setAttribute("aria-describedby", "learner-help");
    if (chosen) for (const option of chosen.options) fields.push(this.#option(option));
    const shared = this.about.settings.filter((setting) => !LEFT_OUT.has(setting.name) && this.#applies(setting, chosen));
    for (const setting of shared.filter((one) => FIRST.includes(one.name))) fields.push(this.#setting(setting));
    const more = shared.filter((one) => !FIRST.includes(one.name));
    const open = this.container.querySelector(":scope > details")?.open ?? more.some((one) => valueAt(this.settings, one.at) !== undefined);
    const details = el("details", { open }, el("summary", {}, "More settings"), el("div", { class: "fields" }, more.map((one) => this.#setting(one))));
    const focused = document.activeElement?.id;
    fill(this.container, el("div", { class: "fields" }, fields), details);
    if (focused && this.container.querySelector(`#${CSS.escape(focused)}`)) this.container.querySelector(`#${CSS.escape(focused)}`).focus();
  }

  learner() {
    return this.about.learners.find((one) => one.name === this.settings.learner) ?? null;
  }

  #applies(setting, learner) {
    return setting.of === "all" || !learner || Boolean(learner[setting.of]);
  }

  #changed(again) {
    for (const key of Object.keys(this.settings)) if (this.settings[key] === undefined) delete this.settings[key];
    const settings = structuredClone(this.settings);
    if (again) this.show(settings);
    this.onChange(settings);
  }

  #option(option) {
    const value = this.settings.options?.[option.name];
    const usual = option.default === "" ? "none" : option.default;
    return this.#field(`option-${option.name}`, named(option.name), option, value, usual, `${option.help} (${option.range})`, (given) => {
      const options = { ...this.settings.options };
      if (given === undefined) delete options[option.name];
      else options[option.name] = given;
      this.settings.options = Object.keys(options).length ? options : undefined;
      this.#changed(false);
    }, option.auto);
  }

  #setting(setting) {
    const value = valueAt(this.settings, setting.at);
    const help = setting.default ? `${setting.help}; by default ${setting.default}` : setting.help;
    return this.#field(`setting-${setting.name}`, setting.label, setting, textOf(setting, value), "default", help, (text) => {
      this.settings = withValue(this.settings, setting.at, meant(setting, text));
      this.#changed(false);
    });
  }

  #field(id, label, { kind, values }, value, usual, help, set, auto) {
    const helpId = freshId("help");
    let input;
    if (kind === "choice") {
      input = el("select", { id, "aria-describedby": helpId, onchange: () => set(input.value || undefined) },
        el("option", { value: "" }, usual === "none" ? "–" : usual), values.map((one) => el("option", { value: one.name, title: one.help }, one.name)));
      input.value = value ?? "";
    } else {
      // As text, so that “auto” and sizes can be given; what is wrong is said by the engine.
      input = el("input", { id, type: "text", inputMode: { whole: "numeric", class_weight: "text" }[kind] ?? "decimal", autocomplete: "off", placeholder: usual, value: value ?? "", "aria-describedby": helpId,
        onchange: () => set(parsed(input.value, kind, auto)) });
    }
    return el("div", { class: "field" }, el("label", { for: id }, label), input, explained(help, helpId));
  }
}

/** The value at a place of a specification, such as bias.append. */
export const valueAt = (spec, place) => place.split(".").reduce((inner, name) => inner?.[name], spec);

/** The specification with another value at a place; without one, also without the parts that it leaves empty. */
export function withValue(spec, place, value) {
  const [name, ...rest] = place.split(".");
  const { [name]: before, ...others } = spec ?? {};
  const after = rest.length ? withValue(before, rest.join("."), value) : value;
  const empty = after === undefined || (rest.length && !Object.keys(after).length);
  return empty ? others : { ...others, [name]: after };
}

/** What a field shows of a value: of a choice, its word. */
export function textOf(setting, value) {
  if (setting.kind === "class_weight") return weightsAsText(value);
  return setting.kind === "choice" ? setting.values.find((one) => one.value === value)?.name : value;
}

/** The value that a word of a choice stands for. */
export const meant = (setting, text) => (setting.kind === "choice" ? setting.values.find((one) => one.name === text)?.value : text);

/** Marks the fields that a message names, and no others. */
export function markFields(message) {
  for (const label of document.querySelectorAll("label[for]")) {
    if (message.includes(`“${label.textContent.trim()}”`)) label.control?.setAttribute("aria-invalid", "true");
    else label.control?.removeAttribute("aria-invalid");
  }
}

/** The help of a field: of much, what comes first; the rest opens. */
function explained(help, id) {
  const first = help.length > 90 ? help.search(/[;.] /) : -1;
  if (first < 0) return el("p", { class: "help", id }, help);
  return el("details", { class: "help more" }, el("summary", { id }, help.slice(0, first)), help.slice(first + 2));
}

/** The weights of classes, as a specification has them. What is wrong is said by the engine. */
function weightsOf(text) {
  if (["balanced", "equal"].includes(text)) return text;
  return { named: text.split(",").map((pair) => pair.trim()).filter(Boolean).map((pair) => {
    const at = pair.lastIndexOf("=");
    const [name, weight] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    return at < 0 ? [pair, null] : [name, Number.isFinite(Number(weight)) && weight ? Number(weight) : weight];
  }) };
}

const weightsAsText = (weight) => (weight?.named ? weight.named.map(([name, value]) => `${name}=${value ?? ""}`).join(", ") : weight);

function parsed(text, kind, auto) {
  const plain = text.trim().replace("−", "-");
  if (plain === "") return undefined;
  if (auto && plain === "auto") return plain;
  if (kind === "class_weight") return weightsOf(plain);
  const number = Number(plain);
  // A number that would become another one stays a text, which the engine refuses.
  if (kind === "whole" && Number.isInteger(number) && !Number.isSafeInteger(number)) return plain;
  return Number.isFinite(number) ? number : plain;
}
