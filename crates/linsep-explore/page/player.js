// Goes through a run: play, pause, step by one update, scrub back and forth.

import { byId, grouped, write } from "./dom.js";

/** How long a run is played, and how fast at least, in updates per second. */
const SECONDS = 14;
const SLOWEST = 2.5;

export class Player {
  constructor(onMove) {
    this.onMove = onMove;
    this.total = 0;
    this.at = 0;
    this.playing = false;
    this.kind = "updates";
    this.slider = byId("scrub");
    this.slider.addEventListener("input", () => { this.pause(); this.move(Number(this.slider.value)); });
    byId("play").addEventListener("click", () => (this.playing ? this.pause() : this.play()));
    byId("step-back").addEventListener("click", () => { this.pause(); this.move(this.at - 1); });
    byId("step-on").addEventListener("click", () => { this.pause(); this.move(this.at + 1); });
    byId("to-start").addEventListener("click", () => { this.pause(); this.move(0); });
    byId("to-end").addEventListener("click", () => { this.pause(); this.move(this.total); });
    byId("speed").addEventListener("change", () => { if (this.playing) this.play(); });
  }

  /** A run of so many steps; `words` says what step k is. */
  load(total, kind, words, at) {
    this.pause();
    this.total = total;
    this.kind = kind;
    this.words = words;
    this.slider.max = String(total);
    this.slider.disabled = total === 0;
    for (const id of ["play", "step-back", "step-on", "to-start", "to-end"]) byId(id).disabled = total === 0;
    this.move(Math.min(at ?? total, total), true);
  }

  /** Stands at step k. */
  move(k, always = false) {
    const to = Math.max(0, Math.min(this.total, Math.round(k)));
    if (to === this.at && !always) return;
    this.at = to;
    if (Number(this.slider.value) !== to) this.slider.value = String(to);
    const words = this.words?.(to) ?? "";
    this.slider.setAttribute("aria-valuetext", `${this.unit()} ${to} of ${this.total}. ${words}`);
    write("step-number", `${grouped(to)} / ${grouped(this.total)}`);
    write("step-words", words);
    this.onMove(to);
  }

  unit() {
    return this.kind === "updates" ? "update" : "pass";
  }

  play() {
    if (!this.total) return;
    if (this.at >= this.total) this.move(0);
    this.playing = true;
    const button = byId("play");
    button.setAttribute("aria-label", "Pause");
    button.dataset.playing = "true";
    const pace = Math.max(SLOWEST, this.total / SECONDS) * Number(byId("speed").value);
    const start = performance.now();
    const from = this.at;
    cancelAnimationFrame(this.frame);
    const go = (now) => {
      if (!this.playing) return;
      this.move(from + Math.floor(((now - start) / 1000) * pace));
      if (this.at >= this.total) this.pause();
      else this.frame = requestAnimationFrame(go);
    };
    this.frame = requestAnimationFrame(go);
  }

  pause() {
    this.playing = false;
    cancelAnimationFrame(this.frame);
    const button = byId("play");
    button.setAttribute("aria-label", "Play");
    delete button.dataset.playing;
  }
}
