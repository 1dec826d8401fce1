// What the components share: elements, counted words, the theme, and the bus on which views tell each other of
// selections.
/** @import { CommandData } from "./wire.d.ts" */
/** @typedef {(name: string, value: unknown) => void} Setter */

export const EVENTS = {
  select: "compileboard:select",
  hover: "compileboard:hover",
  ask: "compileboard:ask",
  command: "compileboard:command",
  camera: "compileboard:camera",
};

// What Python wants of each graph view, for one that mounts later; every component may have a module of its own.
/** @type {Map<string, CommandData>} */
export const COMMANDS = (/** @type {any} */ (globalThis)[Symbol.for("compileboard.commands")] ??= new Map());

/** @param {string} event @param {object} detail */
export function tell(event, detail) {
  globalThis.dispatchEvent(new CustomEvent(event, { detail }));
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

// Whether the page is dark where this element stands.
/** @param {Element | DocumentFragment} parent */
export function isDark(parent) {
  const probe = element("span", "");
  probe.style.color = "var(--st-background-color, #fff)";
  parent.append(probe);
  const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.remove();
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
}
