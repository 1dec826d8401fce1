// Keys of the whole page; they are off while the visitor types into a field or a view has its own keys. The browser
// alone handles full screen and presenting: Python gets only keys that it has to answer.
import { isFull, isPresenting, present, toggleFull } from "../js/room.js";
import { element, tell } from "../js/shared.js";
/** @import { Arguments, Setter, Turn } from "../js/types.d.ts" */
/** @import { KeysData } from "../js/wire.d.ts" */

const FIELD = "input, textarea, select, [contenteditable='true'], [role='combobox']";
const OWN = `${FIELD}, .view, .cv`;
const TURNS = { PageDown: 1, PageUp: -1 };
const IN_THE_BROWSER = ["Shift+F", "Shift+P", "Control+K", "Meta+K"];
const SOON_MS = 4_000;
const FRAME_MS = 25;
// The files that pages/gate/addresses.py prefetches.
const LARGE = /\/static\/js\/(PlotlyChart|StreamlitSyntaxHighlighter)\.[^/]+\.js$/;
/** @type {WeakMap<HTMLElement, AbortController>} */
const listeners = new WeakMap();
let warmed = false;

/** @param {Arguments<KeysData>} args */
export default function ({ data, parentElement, setTriggerValue }) {
  listeners.get(parentElement)?.abort();
  const listening = new AbortController();
  const { signal } = listening;
  listeners.set(parentElement, listening);
  globalThis.addEventListener("keydown", (event) => heard(event, data.keys, setTriggerValue), { signal });
  document.addEventListener("fullscreenchange", () => document.fullscreenElement || toggleFull(false), { signal });
  namePaper(parentElement);
  warm();
  document.body.setAttribute("aria-keyshortcuts", [...data.keys, ...IN_THE_BROWSER].join(" "));
  return () => listening.abort();
}

// Outside of components the theme's colours have no name.
/** @param {Element | DocumentFragment} parent */
function namePaper(parent) {
  const probe = element("span", "");
  parent.append(probe);
  const theme = getComputedStyle(probe);
  const { style } = document.documentElement;
  style.setProperty("--page", theme.getPropertyValue("--st-background-color"));
  style.setProperty("--ink", theme.getPropertyValue("--st-text-color"));
  probe.remove();
}

// Prefetched scripts run while nothing moves, so that the first chart does not wait half a second for them.
function warm() {
  if (warmed) return;
  warmed = true;
  const fetched = performance.getEntriesByType("resource").map(({ name }) => name).filter((url) => LARGE.test(url));
  for (const url of new Set(fetched)) setTimeout(() => whenStill(() => import(url).catch(() => {})), SOON_MS);
}

// Between two frames of a moving picture the browser is idle, too, but for less than a frame.
/** @param {() => unknown} run */
function whenStill(run) {
  if (!globalThis.requestIdleCallback) return run();
  requestIdleCallback((deadline) =>
    deadline.timeRemaining() > FRAME_MS ? run() : setTimeout(() => whenStill(run), SOON_MS)
  );
}

/** @param {KeyboardEvent} event @param {string[]} keys @param {Setter} setTriggerValue */
function heard(event, keys, setTriggerValue) {
  const { key, ctrlKey, metaKey, altKey, defaultPrevented } = event;
  if (defaultPrevented || ctrlKey || metaKey || altKey) return;
  const path = event.composedPath().filter((part) => part instanceof Element);
  if (path.some((part) => part.matches(FIELD))) return;
  if (key === "P") return present();
  if (key in TURNS && isPresenting()) return turned(event, setTriggerValue);
  if (path.some((part) => part.matches(OWN))) return;
  if (key === "F") return toggleFull();
  if (key === "Escape" && isFull()) return isPresenting() ? present(false) : toggleFull(false);
  if (keys.includes(key)) setTriggerValue("pressed", key);
}

// While presenting: a film's next step; where there is none, the next page.
/** @param {KeyboardEvent} event @param {Setter} setTriggerValue */
function turned(event, setTriggerValue) {
  event.preventDefault();
  /** @type {Turn} */
  const turn = { by: event.key === "PageDown" ? 1 : -1, taken: false };
  tell("turn", turn);
  if (!turn.taken) setTriggerValue("pressed", event.key);
}
