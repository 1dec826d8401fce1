// The stages of a graph as a row of steps. The browser marks a picked stage at once, and reports it when the arrow keys
// rest. Called again whenever the data or the theme changes: it only rebuilds.
import { element } from "../js/shared.js";
/** @import { Arguments } from "../js/types.d.ts" */
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
/** Picks that are not reported yet. @type {WeakMap<HTMLElement, { timer: number, id: string | undefined }>} */
const waiting = new WeakMap();

/** @param {Arguments<StagesData>} args */
export default function ({ data, parentElement, setTriggerValue }) {
  const row = element("div", "stages");
  row.setAttribute("role", "radiogroup");
  row.setAttribute("aria-label", "Stage of the graph");
  /** @type {HTMLButtonElement[]} */
  const stops = [];
  for (const { label, lane, stops: those } of data.stretches) {
    const stretch = element("span", lane ? "stretch lane" : "stretch");
    const name = element("span", "label", label);
    name.onclick = () => pick(stops[last]);
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
  const pick = (chosen, wait_ms = 0) => {
    mark(stops, chosen);
    chosen.focus({ preventScroll: true });
    clearTimeout(waiting.get(parentElement)?.timer);
    const { id } = chosen.dataset;
    const tell = () => {
      waiting.delete(parentElement);
      setTriggerValue("picked", id);
    };
    waiting.set(parentElement, { timer: setTimeout(tell, wait_ms), id });
  };
  for (const stop of stops) stop.onclick = () => pick(stop);
  row.onkeydown = (event) => {
    const at = stops.findIndex((stop) => stop === event.target);
    const move = MOVES[event.key];
    if (!move || at < 0) return;
    event.preventDefault();
    pick(stops[move(at, stops.length - 1)], REST_MS);
  };
  const old = parentElement.querySelector(".stages");
  const isFocused = Boolean(old?.matches(":focus-within"));
  if (old) old.replaceWith(row);
  else parentElement.append(row);
  const pending = waiting.get(parentElement);
  const chosen = stops.find((stop) => stop.dataset.id === (pending?.id ?? data.chosen));
  if (chosen && pending) pick(chosen, REST_MS);
  else if (chosen) mark(stops, chosen);
  if (isFocused) chosen?.focus({ preventScroll: true });
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
