// Lessons: steps that a teacher has prepared, each with a text, data and settings.

import * as api from "./api.js";
import { byId, el, fill } from "./dom.js";

export class Lessons {
  constructor(app) {
    this.app = app;
    this.list = app.about.lessons;
    byId("lessons").addEventListener("click", () => {
      const card = byId("lesson-card");
      if (card.hidden || this.app.state.lesson !== null) this.leave();
      else card.hidden = true;
      this.#pressed();
    });
  }

  #pressed() {
    byId("lessons").setAttribute("aria-expanded", String(!byId("lesson-card").hidden));
  }

  show() {
    const { state } = this.app;
    const lesson = state.lesson === null ? null : this.list[state.lesson];
    const box = byId("lesson");
    if (!lesson) {
      fill(box, el("p", {}, "A lesson is a guided tour of this page. To load your own: linsep explore --lesson FILE."),
        el("ul", { class: "lessons" }, this.list.map((one, i) => el("li", {}, el("button", { type: "button", class: "lesson", onclick: () => this.go(i, 0) }, el("strong", {}, one.title), el("span", {}, one.about))))));
      return;
    }
    const step = lesson.step[state.step] ?? lesson.step[0];
    const place = state.step + 1;
    fill(box,
      el("p", { class: "help" }, `${lesson.title}, step ${place} of ${lesson.step.length}`),
      el("h3", { id: "lesson-title", tabIndex: -1 }, step.title),
      step.text.trim().split(/\n\s*\n/).map((paragraph) => el("p", {}, paragraph.replace(/\s+/g, " "))),
      el("div", { class: "buttons" },
        el("button", { type: "button", id: "lesson-back", disabled: state.step === 0, onclick: () => this.go(state.lesson, state.step - 1) }, "Back"),
        place < lesson.step.length ? el("button", { type: "button", id: "lesson-next", class: "primary", onclick: () => this.go(state.lesson, state.step + 1) }, "Next") : null,
        el("button", { type: "button", id: "lesson-leave", class: "quiet", onclick: () => this.leave() }, "All lessons")));
  }

  /** Ends the lesson, and shows the list. */
  leave() {
    this.app.setState({ lesson: null, step: 0 });
    byId("lesson-card").hidden = false;
    this.show();
    this.#pressed();
  }

  /** Ends the lesson, if there is one, because other data than its own is opened. */
  end() {
    if (this.app.state.lesson === null) return;
    this.app.setState({ lesson: null, step: 0 });
    byId("lesson-card").hidden = true;
    this.show();
    this.#pressed();
  }

  /** Goes to a step: its data, its settings, its part of the page. */
  async go(index, place) {
    const { app } = this;
    const lesson = this.list[index];
    if (!lesson) return;
    const at = Math.max(0, Math.min(lesson.step.length - 1, place));
    const step = lesson.step[at];
    // The data of the last step that named some.
    const named = lesson.step.slice(0, at + 1).findLast((one) => one.data || one.points);
    app.setState({ lesson: index, step: at, update: step.update ?? null });
    this.show();
    byId("lesson-card").hidden = false;
    this.#pressed();
    const settings = step.settings ?? {};
    const view = step.view ?? "learn";
    if (named.points) {
      await app.working("opening the lesson", async (signal, hear) => {
        const set = await api.send(new File([named.points], "lesson.csv"), "lesson.csv", {}, { signal, hear });
        app.data.remember(set);
        await app.useSet(set, { settings, update: step.update ?? null });
      });
    } else await app.openData(named.data, { settings, update: step.update ?? null });
    await app.selectView(view);
    byId("lesson-title")?.focus();
  }
}
