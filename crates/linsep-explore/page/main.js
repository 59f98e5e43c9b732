// The page: what is chosen, what is shown, and how the parts hear of each other.

import * as api from "./api.js";
import { brief, byId, counted, debounced, el, fill, grouped, harmless, save, shortened, write } from "./dom.js";
import { Compare } from "./compare.js";
import { Data } from "./data.js";
import { Edit, unpacked } from "./edit.js";
import { Form, markFields } from "./form.js";
import { Learn, stem } from "./learn.js";
import { Lessons } from "./lesson.js";
import { Picture } from "./picture.js";
import { Player } from "./player.js";
import { Proof } from "./proof.js";
import { Separate } from "./separate.js";
import * as address from "./state.js";

const VIEWS = ["learn", "proof", "separate", "compare"];

class App {
  async start() {
    this.state = address.read(location.hash);
    this.#theme();
    try {
      this.about = await api.about();
    } catch (failure) {
      byId("loading").hidden = true;
      return this.failed(failure);
    }
    write("version", this.about.version);
    this.picture = new Picture(byId("picture"));
    this.proof = new Proof();
    this.player = new Player((k) => this.#moved(k));
    this.form = new Form(byId("form"), this.about, (settings) => this.changeSettings(settings));
    this.learn = new Learn(this);
    this.separate = new Separate(this);
    this.compare = new Compare(this);
    this.data = new Data(this);
    this.edit = new Edit(this);
    this.lessons = new Lessons(this);
    this.#tabs();
    this.#keys();
    byId("stop").addEventListener("click", () => this.controller?.abort());
    byId("dismiss").addEventListener("click", () => { byId("failure").hidden = true; });
    addEventListener("hashchange", () => this.#reopen());
    const again = debounced(150, () => { if (this.learn.drawing) this.proof.move(this.player.at); });
    new ResizeObserver(again).observe(byId("panels"));
    this.rerun = debounced(120, () => this.learn.run());
    await this.#reopen();
    document.body.dataset.ready = "true";
  }

  /** Shows what the address says, which makes no new entry in the history. */
  async #reopen() {
    if (this.set && location.hash === address.written(this.state)) return;
    this.reopening = (this.reopening ?? 0) + 1;
    try {
      await this.#show(location.hash);
    } finally {
      this.reopening--;
      if (!this.reopening) address.show(this.state, true);
    }
  }

  async #show(hash) {
    const before = this.state;
    this.state = address.read(hash);
    const { first } = this.about;
    const of = ({ data, points, settings, lesson, step }) => JSON.stringify([points ?? data, settings, lesson, step]);
    if (this.set && of(before) === of(this.state)) return this.#showAgain();
    if (!hash && first.lesson !== null) return this.lessons.go(first.lesson, 0);
    const { settings, update, view, lesson } = this.state;
    const given = Object.keys(settings).length ? { settings, update } : { update };
    this.selectView(view);
    byId("lesson-card").hidden = lesson === null || !this.lessons.list[lesson];
    this.lessons.show();
    const table = this.state.points && unpacked(this.state.points);
    if (table) {
      const points = this.state.points;
      await this.working("opening the points", async (signal, hear) => {
        const set = await api.send(new File([table], "points.csv"), "points.csv", {}, { signal, hear });
        this.data.remember(set);
        await this.useSet(set, { ...given, points });
      });
    } else await this.openData(this.state.data ?? first.data ?? this.about.data[0].id, given);
    if (view === "separate") await this.separate.run();
    await this.#compareAgain();
  }

  /** Shows another part of the page, or another update of the same run. */
  async #showAgain() {
    const { view, update } = this.state;
    await this.selectView(view);
    this.player.move(update ?? this.player.total);
    if (view === "separate" && !this.separate.result) await this.separate.run();
    await this.#compareAgain();
  }

  async #compareAgain() {
    const { view, compare, orders } = this.state;
    if (view !== "compare") return;
    if (compare.length) { this.compare.choose(compare); await this.compare.run(); }
    if (orders) { byId("orders").value = String(orders); await this.compare.orders(); }
  }

  /** Opens a data set that the server knows. */
  async openData(id, options = {}) {
    await this.working("opening the data", async (signal, hear) => {
      let set;
      try {
        set = await api.summary(id);
      } catch (failure) {
        if (this.state.file) throw new api.Failure(`${this.state.file} is no longer open.`, "Drop the file on the page, or open it again.");
        throw failure;
      }
      await this.useSet(set, options);
    });
  }

  /** Works on a set from now on. */
  async useSet(set, { settings, update = null, points = null, keepsView = false, fresh = false } = {}) {
    const before = this.set;
    this.set = set;
    const built = this.about.data.some((one) => one.id === set.id);
    // Points that were edited keep their settings; another set begins with its own.
    const kept = keepsView ? withoutMissing(this.state.settings, set) : null;
    this.setState({ data: set.id, file: built ? null : set.name, points, update, settings: settings ?? kept ?? set.usual });
    if (before?.id !== set.id || fresh) { this.separate.clear(); this.compare.clear(); }
    this.data.show(set);
    this.form.show(this.state.settings);
    this.edit.update();
    const view = this.picture.view;
    // Many rows are seen before they are learned from.
    if (set.rows > 5000) this.learn.bare(await api.points(set.id, this.state.settings.classes?.only));
    try {
      await this.#learnNow();
    } catch (failure) {
      if (failure.name !== "AbortError") this.learn.bare(await api.points(set.id, null));
      throw failure;
    }
    if (keepsView && view) this.picture.view = view;
    if (!points && this.edit.on) await this.edit.toggle(true);
    this.draw();
  }

  async #learnNow() {
    const spec = { job: "train", data: { source: this.set.id }, ...this.state.settings };
    const result = await api.run(spec, { signal: this.controller?.signal, hear: (line) => this.#hear(line) });
    const drawing = await api.drawing(result.id, this.controller?.signal);
    this.learn.take(result, drawing);
  }

  changeSettings(settings) {
    for (const key of Object.keys(settings)) if (settings[key] === undefined) delete settings[key];
    const classes = JSON.stringify(settings.classes) !== JSON.stringify(this.state.settings.classes);
    this.setState({ settings, update: null });
    if (classes) { this.separate.clear(); this.compare.clear(); }
    // A change that comes from the form is shown there already, and making it anew would take the field away that is clicked next.
    if (JSON.stringify(settings) !== JSON.stringify(this.form.settings)) this.form.show(settings);
    this.rerun();
  }

  setState(changes) {
    Object.assign(this.state, changes);
    this.#remember();
  }

  #remember = debounced(60, () => address.show(this.state, Boolean(this.reopening)));

  #moved(k) {
    this.state.update = k === this.player.total ? null : k;
    this.#remember();
    this.proof.move(k);
    this.draw();
  }

  /** What the picture shows now. */
  draw() {
    if (!this.learn.drawing) return;
    const { view } = this.state;
    let scene = null;
    let words = "";
    if (view === "separate" && this.separate.drawing) { scene = this.separate.scene(); words = this.separate.alternative(); }
    if (view === "compare" && this.compare.base) { scene = this.compare.scene(); words = this.compare.alternative(); }
    const learns = !scene;
    if (learns) { scene = this.learn.scene(this.player.at); words = this.learn.alternative(this.player.at); }
    if (this.edit.on) scene = this.edit.scene(scene);
    byId("player").classList.toggle("idle", !learns);
    this.shown = scene;
    this.picture.show(scene);
    this.#describePicture(words);
  }

  #describePicture = debounced(200, (words) => byId("picture").setAttribute("aria-label", harmless(`${this.set.title}: ${words}`)));

  axes() {
    return this.learn.drawing.about.plane === "columns" ? this.learn.drawing.about.axes : [{ mean: 0, divisor: 1 }, { mean: 0, divisor: 1 }];
  }

  /** Says which plane is drawn, and how many of the rows. */
  describe() {
    const { view } = this.state;
    const source = (view === "separate" && this.separate.drawing) || (view === "compare" && this.compare.base?.drawing) || this.learn.drawing;
    if (!source) return;
    const { about } = source;
    const drawn = source.x?.length ?? 0;
    const parts = [];
    if (drawn < about.rows) parts.push(`${grouped(drawn)} of ${counted(about.rows, "row", "rows")} are drawn; all are used in the computation.`);
    if (about.pair && about.plane === "theta") parts.push(`${grouped(about.features)} features are drawn in the plane of the difference between the weights of ${shortened(about.pair[0])} and ${shortened(about.pair[1])}, and the main direction across it. Boundaries are drawn where they cut this plane.`);
    else if (about.plane === "theta") parts.push(`${grouped(about.features)} features are drawn in the plane of the weights θ and the main direction across them. The distances of rows to the final boundary are exact; earlier boundaries are drawn where they cut this plane.`);
    if (about.plane === "means") parts.push(`${grouped(about.features)} features are drawn in the plane of the difference between the classes and the main direction across it. This result has no boundary that could be drawn there.`);
    if (about.plane === "columns" && about.axes?.some((axis) => axis.divisor !== 1 || axis.mean !== 0)) parts.push("The columns are drawn as scaled for training; the axes have the units of the file.");
    if (about.updates > (source["update.row"]?.length ?? Infinity)) parts.push(`The first ${grouped(source["update.row"].length)} of ${grouped(about.updates)} updates can be replayed.`);
    if (source === this.learn.drawing && this.learn.result?.record.learner === "memoriser") parts.push("A memoriser has no boundary: it stores the training rows, and predicts the same class for all others.");
    else if (view === "compare" && this.compare.base) {
      // Regions are not compared, but boundaries.
      if (about.final_classes) parts.push("The boundaries of a learner are where the scores of two classes are equal.");
    } else if (about.final_classes) parts.push("Each point has the class with the largest score; boundaries are where two scores are equal.");
    else if (about.region) parts.push("The boundary is not a straight line: the regions show the predicted classes.");
    if (source === this.learn.drawing && this.learn.moves && this.learn.endsElsewhere()) parts.push("The dashed lines are the result, drawn at the end; the solid ones are the boundaries of the update that is shown.");
    else if (source === this.learn.drawing && this.learn.endsElsewhere()) parts.push("The dashed line is the result, drawn at the end; the solid one is the boundary of the update that is shown.");
    if (about.stride > 1) parts.push(`The boundary is drawn after every ${grouped(about.stride)} updates.`);
    write("plane-note", parts.join(" "));
    fill(byId("legend"), about.outcomes.slice(0, 6).map((name, i) => el("li", { class: `shape shape-${i % 6}` }, brief(name))),
      about.outcomes.length > 6 ? el("li", {}, `… ${grouped(about.outcomes.length - 6)} more`) : null);
  }

  /** Runs something that takes a while, and can be called off. Only the last is waited for. */
  async working(what, action, onFailure) {
    const outer = this.controller;
    outer?.abort();
    const controller = new AbortController();
    this.controller = controller;
    byId("failure").hidden = true;
    markFields("");
    const bar = byId("progress");
    const timer = setTimeout(() => { if (this.controller === controller) bar.hidden = false; }, 180);
    write("progress-words", what);
    byId("progress-bar").removeAttribute("value");
    try {
      await action(controller.signal, (line) => { if (this.controller === controller) this.#hear(line); });
    } catch (failure) {
      if (failure.name !== "AbortError") {
        if (onFailure) onFailure(failure);
        else this.failed(failure);
      } else if (this.controller === controller) this.say("called off");
    } finally {
      clearTimeout(timer);
      if (this.controller === controller) {
        this.controller = null;
        bar.hidden = true;
        byId("loading").hidden = true;
        document.body.dataset.jobs = String(Number(document.body.dataset.jobs ?? 0) + 1);
      }
    }
  }

  #hear(line) {
    if (line.progress) {
      write("progress-words", line.progress.text);
      const bar = byId("progress-bar");
      if (line.progress.share === null || line.progress.share === undefined) bar.removeAttribute("value");
      else bar.value = line.progress.share;
    }
    if (line.note) this.notes = [...(this.notes ?? []).slice(-20), line.note];
  }

  async attempt(action) {
    try {
      await action();
    } catch (failure) {
      this.failed(failure);
    }
  }

  failed(failure) {
    write("failure-message", failure.message);
    markFields(failure.message);
    write("failure-help", failure.help ? `What to do: ${failure.help}` : "");
    byId("failure").hidden = false;
    byId("loading").hidden = true;
  }

  /** Says something to those who listen. */
  say(words) {
    write("status", words);
  }

  savePicture() {
    const title = `${this.set.title}: ${byId("picture").getAttribute("aria-label")}`;
    save(this.picture.svg(title), `${stem(this.set.name)}.svg`);
  }

  #tabs() {
    const tabs = VIEWS.map((view) => byId(`tab-${view}`));
    tabs.forEach((tab, i) => {
      tab.addEventListener("click", () => this.selectView(VIEWS[i]));
      tab.addEventListener("keydown", (event) => {
        const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        const next = (to + tabs.length) % tabs.length;
        this.selectView(VIEWS[next]);
        tabs[next].focus();
      });
    });
  }

  selectView(view) {
    this.setState({ view });
    for (const one of VIEWS) {
      const chosen = one === view;
      byId(`tab-${one}`).setAttribute("aria-selected", String(chosen));
      byId(`tab-${one}`).tabIndex = chosen ? 0 : -1;
      byId(`panel-${one}`).hidden = !chosen;
    }
    if (this.learn?.drawing) {
      this.describe();
      this.draw();
      this.proof.move(this.player.at);
      if (view === "separate" && !this.separate.result) return this.separate.run();
    }
    return undefined;
  }

  /** Keys for the whole page, where no field has the focus. */
  #keys() {
    addEventListener("keydown", (event) => {
      const at = event.target;
      const busy = at.closest?.("input, select, textarea, button, summary, a, [role=tab]") || (this.edit.on && at === this.picture.canvas);
      if (busy || event.ctrlKey || event.metaKey || event.altKey) return;
      const { player } = this;
      const go = { ArrowRight: () => player.move(player.at + (event.shiftKey ? 10 : 1)), ArrowLeft: () => player.move(player.at - (event.shiftKey ? 10 : 1)), Home: () => player.move(0), End: () => player.move(player.total) }[event.key];
      if (go) { player.pause(); go(); event.preventDefault(); }
      if (event.key === " ") { event.preventDefault(); if (player.playing) player.pause(); else player.play(); }
    });
  }

  #theme() {
    const button = byId("theme");
    const dark = () => document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    try {
      const kept = localStorage.getItem("theme");
      if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
    } catch {
      // Storage can be forbidden; the system decides then.
    }
    button.addEventListener("click", () => {
      const next = dark() ? "light" : "dark";
      document.documentElement.dataset.theme = next;
      try { localStorage.setItem("theme", next); } catch { /* as above */ }
      this.picture?.redraw();
      if (this.learn?.drawing) this.proof.move(this.player.at);
    });
  }
}

/** Settings without classes that a set does not have. */
function withoutMissing(settings, set) {
  const names = new Set(set.classes.map((one) => one.name));
  const kept = { ...settings };
  const { only = [], positive } = kept.classes ?? {};
  if (only.some((name) => !names.has(name)) || only.length === names.size || (positive && !names.has(positive))) delete kept.classes;
  return kept;
}

const app = new App();
app.start();
// For those who look behind the page.
window.linsep = app;
