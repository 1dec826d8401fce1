// Shared code of the components: elements, counted words, the theme, and the bus on which views send each other
// selections.
/** @import { Bus, Commented } from "./types.d.ts" */
/** @import { CommandData } from "./wire.d.ts" */

// Python's command for each graph view, for a view that mounts later.
/** @type {Map<string, CommandData>} */
export const COMMANDS = new Map();

// The items with comments, for a view that mounts later.
/** @type {Commented} */
export const COMMENTED = { commented: [], pinned: [] };

/** @template {keyof Bus} Name @param {Name} name @param {Bus[Name]} detail */
export function tell(name, detail) {
  globalThis.dispatchEvent(new CustomEvent(`compileboard:${name}`, { detail }));
}

/**
 * @template {keyof Bus} Name
 * @param {Name} name
 * @param {(detail: Bus[Name]) => void} hear
 * @param {AbortSignal} signal
 */
export function listen(name, hear, signal) {
  const heard = (/** @type {Event} */ event) => hear(/** @type {CustomEvent<Bus[Name]>} */ (event).detail);
  globalThis.addEventListener(`compileboard:${name}`, heard, { signal });
}

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {string} className
 * @param {string | number} [text]
 */
export function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = String(text);
  return made;
}

/** @param {number} number @param {string} word */
export function counted(number, word) {
  return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
}

// True if the page is dark at this element.
/** @param {Element | DocumentFragment} parent */
export function isDark(parent) {
  const probe = element("span", "");
  probe.style.color = "var(--st-background-color, #fff)";
  parent.append(probe);
  const [r, g, b] = (getComputedStyle(probe).color.match(/[\d.]+/g) ?? []).map(Number);
  probe.remove();
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
}
