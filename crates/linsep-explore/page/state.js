// What the page shows, as the address says it: a link opens the same view again.

/** The state with nothing chosen. */
export const initial = () => ({
  data: null, file: null, points: null, view: "learn", settings: {}, update: null, lesson: null, step: 0, compare: [], orders: 0,
});

/** The state that an address stands for. */
export function read(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const state = initial();
  const whole = (name) => (/^\d+$/.test(fields.get(name) ?? "") ? Number(fields.get(name)) : null);
  state.data = fields.get("data");
  state.file = fields.get("file");
  state.points = fields.get("points");
  if (["learn", "proof", "separate", "compare"].includes(fields.get("view"))) state.view = fields.get("view");
  state.update = whole("update");
  state.lesson = whole("lesson");
  state.step = whole("step") ?? 0;
  state.compare = (fields.get("compare") ?? "").split(",").filter(Boolean);
  state.orders = whole("orders") ?? 0;
  try {
    const settings = JSON.parse(fields.get("settings") ?? "{}");
    if (settings && typeof settings === "object" && !Array.isArray(settings)) state.settings = settings;
  } catch {
    // An address that was cut: the usual settings.
  }
  return state;
}

/** The address of a state, without what is as usual. */
export function written(state) {
  const fields = new URLSearchParams();
  if (state.points) fields.set("points", state.points);
  else if (state.data) fields.set("data", state.data);
  if (state.file) fields.set("file", state.file);
  if (state.view !== "learn") fields.set("view", state.view);
  if (Object.keys(state.settings).length) fields.set("settings", JSON.stringify(state.settings));
  if (state.update !== null) fields.set("update", String(state.update));
  if (state.lesson !== null) { fields.set("lesson", String(state.lesson)); fields.set("step", String(state.step)); }
  if (state.compare.length) fields.set("compare", state.compare.join(","));
  if (state.orders) fields.set("orders", String(state.orders));
  return `#${fields}`;
}

/** What makes a new entry in the history of the browser: other data, another learner, other classes, another part of the page. */
function milestone({ data, points, view, settings, lesson, step, compare, orders }) {
  return JSON.stringify([points ? "points" : data, view, settings.learner, settings.classes, lesson, step, compare, orders]);
}

let last = null;

/** Puts the state into the address. Small changes, such as every update, replace the entry in the history of the browser. */
export function show(state, replaces = false) {
  const address = written(state);
  const now = milestone(state);
  const isNew = last !== null && now !== last && !replaces;
  last = now;
  if (address === location.hash) return;
  const place = `${location.pathname}${location.search}${address}`;
  if (isNew) history.pushState(null, "", place);
  else history.replaceState(null, "", place);
}
