// The pictures on the tool bar's buttons, drawn in a square of 16, and the signs of op classes.
import { button, make } from "./dom.js";

const ICONS = {
  fold: "M4 2.5 8 6l4-3.5M4 13.5 8 10l4 3.5M2.5 8h11",
  unfold: "M4 5 8 1.5 12 5M4 11l4 3.5 4-3.5M2.5 8h11",
  closer: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.3 10.3 14 14M5 7h4M7 5v4",
  further: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.3 10.3 14 14M5 7h4",
  fit: "M5.5 5.5h5v5h-5zM2 5V2h3M11 2h3v3M14 11v3h-3M5 14H2v-3",
  full: "M9.5 2H14v4.5M14 2 9.5 6.5M6.5 14H2V9.5M2 14l4.5-4.5",
};

/**
 * @param {Element} parent
 * @param {keyof typeof ICONS} icon
 * @param {string} title
 * @param {() => void} act
 */
export function iconButton(parent, icon, title, act) {
  const made = button(parent, "", title, act);
  made.classList.add("icon");
  const svg = make("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, made);
  make("path", { d: ICONS[icon] }, svg);
  return made;
}

// A sign for each op class, so that its colour is not all that tells it; drawn around its middle, in a circle.
/** @type {Record<string, string>} */
const GLYPHS = {
  matmul: "M-2.2-2.2 2.2 2.2M2.2-2.2-2.2 2.2",
  attention: "M-2.6 0A2.6 2.6 0 1 1 2.6 0A2.6 2.6 0 1 1-2.6 0",
  pointwise: "M-.5 0A.5.5 0 1 1 .5 0A.5.5 0 1 1-.5 0",
  reduction: "M-2.9-1.7H2.9L0 2.8Z",
  view: "M-2.5-2.1H2.5V2.1H-2.5Z",
  copy: "M-2.7-1.4H2.7M-2.7 1.4H2.7",
  random: "M-3 1.6-1-1.6 1 1.6 3-1.6",
  embedding: "M-3 0H3M0-3V3",
  collective: "M-3.2 0H3.2M-1.4-2-3.2 0-1.4 2M1.4-2 3.2 0 1.4 2",
  other: "M-2.4 2.4 2.4-2.4",
};

/** @param {string} cls */
export function glyphOf(cls) {
  return GLYPHS[cls] ?? GLYPHS.other;
}

/** @param {string} cls @param {number} x @param {number} y @param {Element} parent */
export function glyph(cls, x, y, parent) {
  const d = glyphOf(cls);
  return make("path", { class: "glyph", d, transform: `translate(${x} ${y})` }, parent);
}
