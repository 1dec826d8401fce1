// Small helpers of the code view: elements, colours, the keyboard's target, the clipboard, the overview ruler.
import { element } from "../../js/shared.js";
/** @import { LineData } from "../../js/wire.d.ts" */

const MOST_TICKS = 300;

/** @typedef {ReturnType<typeof readLine>} CodeLine */

/** @param {LineData} line */
export function readLine([number, id, runs, links, colours, mark, note, tooltip, cut]) {
  return { number, id, runs, links, colours, mark, note, tooltip, cut, text: runs.map((run) => run[1]).join("") };
}

/** @param {CodeLine} line */
export function noteOf(line) {
  const note = element("div", `note ${line.mark}`);
  note.append(element("p", "", line.note));
  return note;
}

/** @param {string[]} colours */
export function bands(colours) {
  const stops = colours.map((c, i) => `${c} ${(100 * i) / colours.length}% ${(100 * (i + 1)) / colours.length}%`);
  return `linear-gradient(${stops.join(", ")})`;
}

/** @param {Event} event */
export function isTyping(event) {
  const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** @param {string} text */
export async function copyText(text) {
  if (navigator.clipboard) return await navigator.clipboard.writeText(text);
  // The clipboard API is there only over https and on localhost.
  const area = document.body.appendChild(element("textarea", ""));
  area.value = text;
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** @param {Record<string, number[]>} indexesByKind @param {number} size */
export function ticks(indexesByKind, size) {
  /** @type {Map<number, string>} */
  const places = new Map();
  for (const [kind, indexes] of Object.entries(indexesByKind)) {
    for (const index of indexes.slice(0, MOST_TICKS)) places.set(Math.round((1000 * index) / size), kind);
  }
  return [...places].map(([place, kind]) => {
    const tick = element("i", kind);
    tick.style.top = `${place / 10}%`;
    return tick;
  });
}
