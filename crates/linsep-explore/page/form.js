// The form of a training job, made from the registry of learners.

import { el, fill, freshId } from "./dom.js";

/** Settings that the page shows at once; the others are behind “More settings”. */
const FIRST = ["scale", "order", "seed"];
/** Settings of the registry that this form does not offer, and why. */
const LEFT_OUT = new Set([
  "class_weight", // a dictionary
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
    } }, el("option", { value: "" }, "as linsep train chooses"), this.about.learners.map((one) => el("option", { value: one.name }, `${one.name}`)));
    learner.value = settings.learner ?? "";
    const summary = chosen ? chosen.summary : "Without a choice, the averaged perceptron; for more than two classes, one weight vector for each.";
    const fields = [el("div", { class: "field wide" }, el("label", { for: "learner" }, "Learner"), learner, el("p", { class: "help", id: "learner-help" }, summary))];
    learner.setAttribute("aria-describedby", "learner-help");
    if (chosen) for (const option of chosen.options) fields.push(this.#option(option));
    const shared = this.about.settings.filter((setting) => !LEFT_OUT.has(setting.name) && this.#applies(setting, chosen));
    for (const setting of shared.filter((one) => FIRST.includes(one.name))) fields.push(this.#setting(setting));
    const more = shared.filter((one) => !FIRST.includes(one.name));
    const open = this.container.querySelector("details")?.open ?? more.some((one) => this.#get(one.name) !== undefined);
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

  #get(name) {
    if (name === "bias") return this.settings.bias?.append === undefined ? undefined : this.settings.bias.append ? "append" : "none";
    if (name === "bias_scale") return this.settings.bias?.scale;
    return this.settings[name];
  }

  #set(name, value) {
    if (name === "bias" || name === "bias_scale") {
      const bias = { ...this.settings.bias };
      if (name === "bias") bias.append = value === undefined ? undefined : value === "append";
      else bias.scale = value;
      for (const key of Object.keys(bias)) if (bias[key] === undefined) delete bias[key];
      this.settings.bias = Object.keys(bias).length ? bias : undefined;
    } else this.settings[name] = value;
    this.#changed(false);
  }

  #setting(setting) {
    return this.#field(`setting-${setting.name}`, named(setting.name), setting, this.#get(setting.name), "as usual", setting.help,
      (given) => this.#set(setting.name, given));
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
      input = el("input", { id, type: "text", inputMode: kind === "whole" ? "numeric" : "decimal", autocomplete: "off", placeholder: usual, value: value ?? "", "aria-describedby": helpId,
        onchange: () => set(parsed(input.value, kind, auto)) });
    }
    return el("div", { class: "field" }, el("label", { for: id }, label), input, explained(help, helpId));
  }
}

/** The help of a field: of much, what comes first; the rest opens. */
function explained(help, id) {
  const first = help.length > 90 ? help.search(/[;.] /) : -1;
  if (first < 0) return el("p", { class: "help", id }, help);
  return el("details", { class: "help more" }, el("summary", { id }, help.slice(0, first)), help.slice(first + 2));
}

function parsed(text, kind, auto) {
  const plain = text.trim().replace("−", "-");
  if (plain === "") return undefined;
  if (auto && plain === "auto") return plain;
  const number = Number(plain);
  return Number.isFinite(number) ? number : plain;
}
