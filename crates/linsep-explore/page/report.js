// Reports of jobs: the sentences that the command line prints.

import { el } from "./dom.js";

/** Facts about files: the page saves what is asked for. */
const LEFT_OUT = new Set(["Saved"]);

/** The blocks of a report as elements. */
export function report(blocks) {
  return blocks.map((block) => {
    if (block.facts) {
      return el("dl", { class: "facts" }, block.facts.filter(([name]) => !LEFT_OUT.has(name)).flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));
    }
    if (block.heading) return el("h3", {}, block.heading);
    if (block.paragraph) return el("p", {}, block.paragraph);
    if (block.item) return el("p", { class: "item" }, block.item);
    if (block.text?.trim()) return el("pre", { class: "table", tabIndex: 0 }, block.text.replace(/^\n+|\n+$/g, ""));
    if (block.command) return el("pre", { class: "command", tabIndex: 0 }, block.command);
    return null;
  });
}
