// The stages of a graph as a row of steps. The browser marks a picked stage at once, and reports it when the arrow keys
// rest.
import { element } from "../js/shared.js";
/** @import { Drawn, Pick } from "../js/types.d.ts" */
/** @import { StagesData } from "../js/wire.d.ts" */

const REST_MS = 150;
const MANY = 8;
/** @type {Record<string, (at: number, last: number) => number>} */
const MOVES = {
  ArrowRight: (at, last) => Math.min(at + 1, last),
  ArrowDown: (at, last) => Math.min(at + 1, last),
  ArrowLeft: (at) => Math.max(at - 1, 0),
  ArrowUp: (at) => Math.max(at - 1, 0),
  Home: () => 0,
  End: (_, last) => last,
};
/** Picks that are not reported yet. @type {WeakMap<Node, { timer: number, id: string }>} */
const waiting = new WeakMap();

/** @param {StagesData} data @param {Pick} pick @returns {Drawn} */
export function stages(data, pick) {
  const row = element("div", "stages");
  row.setAttribute("role", "radiogroup");
  row.setAttribute("aria-label", "Stage of the graph");
  /** @type {HTMLButtonElement[]} */
  const stops = [];
  for (const { label, lane, stops: those } of data.stretches) {
    const stretch = element("span", lane ? "stretch lane" : "stretch");
    const name = element("span", "label", label);
    name.onclick = () => choose(stops[last]);
    stretch.append(name);
    for (const { id, count, tooltip } of those) {
      const stop = element("button", "stop", count);
      stop.title = `${id}: ${tooltip}`;
      stop.setAttribute("role", "radio");
      stop.setAttribute("aria-label", `${label}, ${count} ops: ${id}`);
      stop.dataset.id = id;
      stops.push(stop);
      stretch.append(stop);
    }
    const last = stops.length - 1;
    row.append(stretch);
  }
  row.classList.toggle("many", stops.length > MANY);
  /** @param {HTMLButtonElement} chosen @param {number} [wait_ms] */
  const choose = (chosen, wait_ms = 0) => {
    mark(stops, chosen);
    chosen.focus({ preventScroll: true });
    const parent = row.parentNode ?? row;
    clearTimeout(waiting.get(parent)?.timer);
    const { id = "" } = chosen.dataset;
    const tell = () => {
      waiting.delete(parent);
      pick(id);
    };
    waiting.set(parent, { timer: setTimeout(tell, wait_ms), id });
  };
  for (const stop of stops) stop.onclick = () => choose(stop);
  row.onkeydown = (event) => {
    const at = stops.findIndex((stop) => stop === event.target);
    const move = MOVES[event.key];
    if (!move || at < 0) return;
    event.preventDefault();
    choose(stops[move(at, stops.length - 1)], REST_MS);
  };
  /** @param {HTMLElement} parent @param {boolean} isFocused */
  const mounted = (parent, isFocused) => {
    const pending = waiting.get(parent);
    const chosen = stops.find((stop) => stop.dataset.id === (pending?.id ?? data.chosen));
    if (chosen && pending) choose(chosen, REST_MS);
    else if (chosen) mark(stops, chosen);
    if (isFocused) chosen?.focus({ preventScroll: true });
  };
  return { root: row, mounted };
}

/** @param {HTMLButtonElement[]} stops @param {HTMLButtonElement} chosen */
function mark(stops, chosen) {
  for (const stop of stops) {
    stop.setAttribute("aria-checked", String(stop === chosen));
    stop.tabIndex = stop === chosen ? 0 : -1;
    if (stop !== chosen) stop.parentElement?.classList.remove("here");
  }
  const { parentElement: stretch } = chosen;
  stretch?.classList.add("here");
  const row = stretch?.parentElement;
  if (!stretch || !row) return;
  const [left, right] = [stretch.offsetLeft, stretch.offsetLeft + stretch.offsetWidth];
  if (left < row.scrollLeft) row.scrollLeft = left;
  else if (right > row.scrollLeft + row.clientWidth) row.scrollLeft = right - row.clientWidth;
}
