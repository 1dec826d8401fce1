// The colours of the style sheet as a canvas needs them.
import { make, opClass } from "../dom.js";
/** @import { Inks } from "../types.d.ts" */

/** @param {HTMLElement} root @param {string[]} classes @returns {Inks} */
export function inksOf(root, classes) {
  const probe = make("span", {}, root);
  const colour = (/** @type {string} */ value) => ((probe.style.color = value), getComputedStyle(probe).color);
  const inks = {
    bg: colour("var(--bg)"),
    ink: colour("var(--ink)"),
    line: colour("var(--edge)"),
    now: colour("var(--accent)"),
    none: colour("var(--unrecorded)"),
    code: getComputedStyle(root).getPropertyValue("--code"),
    classes: new Map([["group", colour("var(--edge)")]]),
  };
  for (const name of [...classes, "other"]) {
    probe.className = opClass(name);
    inks.classes.set(name, colour("var(--op)"));
  }
  probe.remove();
  return inks;
}
