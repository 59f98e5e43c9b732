// Data: the built-in sets, a file of one's own, which classes are told apart.

import * as api from "./api.js";
import { byId, counted, el, fill, grouped, shortened, write } from "./dom.js";
import { Reading } from "./reading.js";

export class Data {
  constructor(app) {
    this.app = app;
    this.select = byId("data-select");
    this.own = new Map();
    fill(this.select, el("optgroup", { label: "Built in" }, app.about.data.map((set) => el("option", { value: set.id }, set.title))));
    this.select.addEventListener("change", () => { app.lessons.end(); app.openData(this.select.value); });
    const input = byId("file");
    byId("open-file").addEventListener("click", () => input.click());
    input.addEventListener("change", () => { if (input.files[0]) this.send(input.files[0]); input.value = ""; });
    this.#drops();
    this.reading = new Reading(byId("read-fields"), app.about.reading);
    byId("read-again").addEventListener("click", () => this.#readAgain());
    write("formats", app.about.formats.map((format) => format.name).join(", "));
  }

  #drops() {
    const veil = byId("drop");
    let depth = 0;
    const files = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
    addEventListener("dragenter", (event) => { if (files(event)) { depth++; veil.hidden = false; } });
    addEventListener("dragleave", (event) => { if (files(event) && --depth <= 0) { depth = 0; veil.hidden = true; } });
    addEventListener("dragover", (event) => { if (files(event)) event.preventDefault(); });
    addEventListener("drop", (event) => {
      if (!files(event)) return;
      event.preventDefault();
      depth = 0;
      veil.hidden = true;
      if (event.dataTransfer.files[0]) this.send(event.dataTransfer.files[0]);
    });
  }

  /** Sends a file and opens it. */
  async send(file, options = {}) {
    const { app } = this;
    const most = app.about.limits.upload;
    if (file.size > most) {
      // A browser that is refused in the middle of sending does not show the answer: this is what it would say.
      return app.failed(new api.Failure(`${file.name} is larger than ${grouped(Math.max(1, most / 2 ** 20))} MB.`, "Name it on the command line: linsep explore FILE"));
    }
    this.last = file;
    byId("read-box").open = false;
    return app.working(`opening ${file.name}`, async (signal, hear) => {
      const set = await api.send(file, file.name, options, { signal, hear });
      this.remember(set);
      app.lessons.end();
      await app.useSet(set, { fresh: true });
    }, (failure) => {
      // What a file of one's own was not understood by is said beside the options that would help.
      this.app.failed(failure);
      byId("read-options").hidden = false;
      byId("read-box").open = true;
      this.reading.show(options);
    });
  }

  #readAgain() {
    if (!this.last) return this.app.failed(new api.Failure("Choose the file again, then its reading options."));
    this.send(this.last, this.reading.options());
  }

  /** Puts a set of one's own into the list. */
  remember(set) {
    if (!this.app.about.data.some((one) => one.id === set.id)) this.own.set(set.id, set.title);
    this.select.querySelector("optgroup[data-own]")?.remove();
    if (this.own.size) {
      const group = el("optgroup", { label: "Your own", "data-own": "" }, [...this.own].map(([id, title]) => el("option", { value: id }, title)));
      this.select.append(group);
    }
  }

  /** Shows what the set is, and which classes can be told apart. */
  show(set) {
    const { app } = this;
    if (![...this.select.options].some((option) => option.value === set.id)) this.remember(set);
    this.select.value = set.id;
    // Points that were placed by hand are not read in another way.
    byId("read-options").hidden = !this.own.has(set.id) || Boolean(app.state.points);
    this.reading.show(set.read);
    write("data-title", set.title);
    const built = app.about.data.find((one) => one.id === set.id);
    const classes = set.class_count > 6 ? `${grouped(set.class_count)} classes` : `${set.class_count === 1 ? "class" : "classes"} ${set.classes.map((one) => `${shortened(one.name)} (${grouped(one.rows)})`).join(", ")}`;
    const counts = `${counted(set.rows, "row", "rows")}, ${counted(set.features, "feature", "features")}, ${classes}`;
    fill(byId("data-about"), built ? `${built.about} ` : "", built ? `${counts}.` : `${counts}. Read as ${set.format}.`);
    const skipped = set.skipped_rows ? [`${counted(set.skipped_rows, "malformed row was", "malformed rows were")} skipped.`] : [];
    const dropped = set.dropped_rows ? [`${counted(set.dropped_rows, "row was", "rows were")} left out.`] : [];
    fill(byId("data-remarks"), [...skipped, ...dropped, ...set.remarks].map((remark) => el("li", {}, remark)));
    this.#classes(set);
  }

  #classes(set) {
    const { app } = this;
    const field = byId("classes-field");
    field.hidden = set.class_count < 2;
    if (field.hidden) return;
    const names = set.classes.map((one) => one.name);
    const two = names.length === 2;
    const choices = two
      ? [["all", `${names[1]} counts as +1`, {}], ["first", `${names[0]} counts as +1`, { positive: names[0] }]]
      : [["all", "all classes together", {}]];
    if (!two) for (const name of names.slice(0, MAX_LISTED)) choices.push([`p${name}`, `${name} against the rest`, { positive: name }]);
    if (!two && names.length <= 8) for (let i = 0; i < names.length; i++) for (let j = i + 1; j < names.length; j++) choices.push([`o${i},${j}`, `${names[i]} and ${names[j]}`, { only: [names[i], names[j]] }]);
    const select = byId("classes");
    fill(select, choices.map(([value, text]) => el("option", { value, title: text }, shortened(text, 60))));
    const current = app.state.settings.classes ?? {};
    // What an address says and the list does not have.
    if (!choices.some(([, , spec]) => same(spec, current)) && (current.only || current.positive)) {
      choices.push(["own", [current.only?.join(" and "), current.positive && `${current.positive} counts as +1`].filter(Boolean).join("; "), current]);
      select.append(el("option", { value: "own" }, choices.at(-1)[1]));
    }
    select.value = choices.find(([, , spec]) => same(spec, current))?.[0] ?? "all";
    select.onchange = () => {
      const spec = choices.find(([value]) => value === select.value)[2];
      // The weights of classes stay; what they name may be gone, which the engine says.
      const { weight } = app.state.settings.classes ?? {};
      const classes = weight === undefined ? spec : { ...spec, weight };
      app.changeSettings({ ...app.state.settings, classes: Object.keys(classes).length ? classes : undefined });
    };
  }
}

/** The most classes that are listed against the rest. */
const MAX_LISTED = 100;

const same = (one, other) => JSON.stringify([one.only ?? null, one.positive ?? null]) === JSON.stringify([other.only ?? null, other.positive ?? null]);
