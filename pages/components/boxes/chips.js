// A row of chips on one line; chips that do not fit are behind "+3".
import { copyText } from "../code/js/dom.js";
import { element } from "../js/shared.js";
/** @import { Drawn, Pick } from "../js/types.d.ts" */
/** @import { Chip, ChipsData } from "../js/wire.d.ts" */

const CLOSED = "closed";
const COPIED_MS = 2_000;
const GAP_PX = 6;
const MORE_PX = 46;
/** @type {WeakMap<HTMLElement, ResizeObserver>} */
const watches = new WeakMap();

/** @param {ChipsData} data @param {Pick} pick @returns {Drawn} */
export function chips(data, pick) {
  const row = element("div", "chips");
  const more = element("details", "more");
  const count = element("summary", "chip");
  const rest = element("div", "rest");
  more.hidden = true;
  count.setAttribute("aria-label", "more");
  more.append(count, rest);
  const items = data.chips.map((chip) => made(chip, pick));
  row.append(...items, more);
  more.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    more.open = false;
    count.focus();
  });
  more.addEventListener("focusout", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && more.contains(relatedTarget))) more.open = false;
  });
  /** @param {HTMLElement} parent */
  const mounted = (parent) => {
    watches.get(parent)?.disconnect();
    const watch = new ResizeObserver(() => share(row, items, more, count, rest));
    watches.set(parent, watch);
    watch.observe(row);
    return () => watch.disconnect();
  };
  return { root: row, mounted };
}

/** @param {Chip} chip @param {Pick} pick */
function made(chip, pick) {
  const item = element(chip.page || chip.copies ? "button" : "span", `chip ${chip.tone}`);
  if (chip.tooltip) item.title = chip.tooltip;
  if (chip.tone && chip.tone !== "quiet") item.append(element("i", "dot"));
  item.append(brief("b", chip.value, " ("));
  if (chip.label) item.append(brief("span", chip.label, ", "));
  if (chip.page) item.onclick = () => pick(chip.page);
  if (chip.copies) item.onclick = () => copy(item, chip.value);
  return chip.closes ? closable(item, chip.closes, pick) : item;
}

/** @param {HTMLElement} item @param {string} name */
async function copy(item, name) {
  await copyText(location.href);
  item.replaceChildren(element("b", "", "Copied"));
  setTimeout(() => item.replaceChildren(element("b", "", name)), COPIED_MS);
}

/** @param {HTMLElement} item @param {string} name @param {Pick} pick */
function closable(item, name, pick) {
  const both = element("span", "closable");
  const close = element("button", "close", "✕");
  close.setAttribute("aria-label", name);
  close.title = name;
  close.onclick = () => pick(CLOSED);
  both.append(item, close);
  return both;
}

// A text whose end (an interval or a doubt, also in the tooltip) is left out if the header is narrow.
/** @param {"b" | "span"} tag @param {string} text @param {string} mark */
function brief(tag, text, mark) {
  const at = text.indexOf(mark);
  const label = element(tag, "", at < 0 ? text : text.slice(0, at));
  if (at >= 0) label.append(element("span", "rest-of", text.slice(at)));
  return label;
}

// Show as many chips as fit, in their order, at least the first; the others go into the list.
/**
 * @param {HTMLElement} row
 * @param {HTMLElement[]} chips
 * @param {HTMLDetailsElement} more
 * @param {HTMLElement} count
 * @param {HTMLElement} rest
 */
function share(row, chips, more, count, rest) {
  for (const chip of chips) row.insertBefore(chip, more);
  more.hidden = true;
  let used = 0;
  const ends = chips.map((chip) => used += chip.offsetWidth + GAP_PX);
  if (used - GAP_PX <= row.clientWidth) return;
  const shown = Math.max(1, ends.filter((end) => end + MORE_PX <= row.clientWidth).length);
  rest.replaceChildren(...chips.slice(shown));
  count.textContent = `+${chips.length - shown}`;
  count.setAttribute("aria-label", `${chips.length - shown} more`);
  more.hidden = false;
}
