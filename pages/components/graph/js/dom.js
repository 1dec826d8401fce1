// Helpers for every part of the view: elements, text that fits, and the user's setting for reduced motion.
/** @import { Made } from "./types.d.ts" */

export const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "rect", "path", "text", "defs", "pattern"]);
export const OP_CLASS = /^[a-z_]+$/;

/**
 * @template {string} T
 * @param {T} tag
 * @param {Record<string, string | number>} attributes
 * @param {Element} [parent]
 * @param {string | number} [text]
 * @returns {Made<T>}
 */
export function make(tag, attributes, parent, text) {
  const element = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = String(text);
  parent?.append(element);
  return /** @type {Made<T>} */ (element);
}

/**
 * @param {Element | undefined} parent
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

// Make these the only children of an element, in this order; those that it has already stay in the document.
/** @param {Element} parent @param {Iterable<Element>} children */
export function arrange(parent, children) {
  const wanted = new Set(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  let at = parent.firstElementChild;
  for (const child of wanted) {
    if (child === at) at = child.nextElementSibling;
    else parent.insertBefore(child, at);
  }
}

/** @param {HTMLCanvasElement} canvas */
export function drawingOn(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}

// The numbers of kernels, which are unlike those of modules: K2.
/** @param {string} badge */
export function kernelNumbers(badge) {
  return badge.replace(/\d[\d,]*/g, "K$&");
}

/** @param {string} name */
export function opClass(name) {
  return `op-${OP_CLASS.test(name) ? name : "other"}`;
}

// A text that fits, without its middle: long names differ at their ends.
/** @param {string} text @param {number} width @param {number} perCharacter */
export function cut(text, width, perCharacter) {
  const most = Math.max(1, Math.floor(width / perCharacter + 0.01));
  if (text.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - end)}…${end ? text.slice(-end) : ""}`;
}

// A name that fits, cut between its words: of a module before the ops, its last parts; else the beginning and the end.
/** @param {string} name @param {number} width @param {number} perCharacter */
export function cutName(name, width, perCharacter) {
  const most = Math.max(1, Math.floor(width / perCharacter + 0.01));
  if (name.length <= most) return name;
  const at = name.lastIndexOf(" · ");
  const parts = at < 0 ? [] : name.slice(0, at).split(".");
  for (let from = 1; from <= parts.length; from += 1) {
    const rest = from < parts.length ? `…${parts.slice(from).join(".")}${name.slice(at)}` : name.slice(at + 3);
    if (rest.length <= most) return rest;
  }
  const words = name.slice(at < 0 ? 0 : at + 3).split(/(?<=[\s_.,])|(?<=[a-z])(?=[A-Z])/);
  let [best, largest] = ["", 0];
  for (let head = 0; head < words.length; head += 1) {
    const start = words.slice(0, head).join("").trimEnd();
    for (let tail = words.length; tail > head; tail -= 1) {
      const end = words.slice(tail).join("");
      // The beginning and the end are about as long.
      const worth = start.length + end.length - Math.abs(start.length - end.length) / 3;
      if (start.length + end.length < most && worth > largest) [best, largest] = [`${start}…${end}`, worth];
    }
  }
  return best || cut(name, width, perCharacter);
}

// As many facts of a line as fit, and the first one in any case.
/** @param {string} line @param {number} width @param {number} perCharacter */
export function cutFacts(line, width, perCharacter) {
  const facts = line.split(" · ");
  while (facts.length > 1 && facts.join(" · ").length * perCharacter > width) facts.pop();
  return cut(facts.join(" · "), width, perCharacter);
}

// A text in which no line begins with a unit.
/** @param {string} text */
export function bound(text) {
  return text.replace(/(\d) (?=%|[kMGTµmn]?(?:B|s|FLOP)\b|ops?\b)/g, "$1\u00a0");
}

export function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** @template T @param {T[]} items @param {(item: T) => number} distance @returns {T | undefined} */
export function nearest(items, distance) {
  /** @type {T | undefined} */
  let best;
  let least = Infinity;
  for (const item of items) {
    const away = distance(item);
    if (away < least) [best, least] = [item, away];
  }
  return best;
}

/** @template K, V @param {Map<K, V[]>} map @param {K} key @param {V} value */
export function filed(map, key, value) {
  const there = map.get(key);
  if (there) there.push(value);
  else map.set(key, [value]);
}

// The target of an event, or its nearest ancestor that matches a selector.
/** @param {Event} event @param {string} selector */
export function closest({ target }, selector) {
  return target instanceof Element ? target.closest(selector) : null;
}

// The stored state of a view in this tab; nothing is stored if the browser refuses to.
/** @param {string} name @returns {unknown} */
export function remembered(name) {
  try {
    return JSON.parse(sessionStorage.getItem(`compileboard:${name}`) ?? "null");
  } catch {
    return null;
  }
}

/** @param {string} name @param {unknown} value */
export function remember(name, value) {
  try {
    sessionStorage.setItem(`compileboard:${name}`, JSON.stringify(value));
  } catch {
    // Full or forbidden: the view works without.
  }
}
