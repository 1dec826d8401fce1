// Small things that every part of the view needs: elements, text that fits, figures with units, and what the user
// asked of motion.
/** @import { Made } from "./types.d.ts" */

export const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "rect", "path", "text", "defs", "pattern"]);
export const OP_CLASS = /^[a-z_]+$/;
/** @type {[number, string][]} */
const TALL_UNITS = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

/**
 * @template {string} T
 * @param {T} tag
 * @param {Record<string, any>} attributes
 * @param {Element} [parent]
 * @param {any} [text]
 * @returns {Made<T>}
 */
export function make(tag, attributes, parent, text) {
  const element = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent?.append(element);
  return /** @type {Made<T>} */ (element);
}

/**
 * @param {Element} parent
 * @param {string} text
 * @param {string} title
 * @param {() => void} act
 * @param {Record<string, string>} [attributes]
 */
export function button(parent, text, title, act, attributes = {}) {
  const element = make("button", { type: "button", title, "aria-label": title, ...attributes }, parent, text);
  element.onclick = act;
  return element;
}

/** @param {string} name */
export function opClass(name) {
  return `op-${OP_CLASS.test(name ?? "") ? name : "other"}`;
}

/** @param {string} text @param {number} width @param {number} perCharacter */
export function cut(text, width, perCharacter) {
  const most = Math.max(1, Math.floor(width / perCharacter + 0.01));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** @param {number} value */
function three(value) {
  return value === 0 ? "0" : Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
}

// A figure with three digits and its unit, such as "1.2 MB"; seconds and microseconds change their unit with their
// size.
/** @param {number} value @param {string} unit */
export function figure(value, unit) {
  if (unit === "s" && value > 0 && value < 1) {
    return value < 1e-3 ? `${three(value * 1e6)} µs` : `${three(value * 1e3)} ms`;
  }
  if ((unit === "us" || unit === "µs") && value >= 1e3) {
    return value < 1e6 ? `${three(value / 1e3)} ms` : `${three(value / 1e6)} s`;
  }
  const name = { bytes: "B", flop: "FLOP", us: "µs" }[unit] ?? unit ?? "";
  const [size, prefix] = TALL_UNITS.find(([least]) => Math.abs(value) >= least) ?? [1, ""];
  return name.includes("/") || name === "%"
    ? `${three(value)} ${name}`
    : `${three(value / size)} ${prefix}${name}`.trimEnd();
}

export function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** @template T @param {T[]} items @param {(item: T) => number} distance @returns {T} */
export function nearest(items, distance) {
  let [best, least] = [undefined, Infinity];
  for (const item of items) {
    const away = distance(item);
    if (away < least) [best, least] = [item, away];
  }
  return best;
}

// What a view remembers in this tab; a browser that refuses to store anything remembers nothing.
/** @param {string} name */
export function remembered(name) {
  try {
    return JSON.parse(sessionStorage.getItem(`compileboard:${name}`));
  } catch {
    return null;
  }
}

/** @param {string} name @param {any} value */
export function remember(name, value) {
  try {
    sessionStorage.setItem(`compileboard:${name}`, JSON.stringify(value));
  } catch {
    // Full or forbidden: the view works without.
  }
}
