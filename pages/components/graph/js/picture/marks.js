// Marks of an item: a class, and for some a sign.
import { make } from "../dom.js";

/** @type {Record<string, string>} */
const SIGNS = {
  commented: "M-4 -15H10A3 3 0 0 1 13 -12V-6A3 3 0 0 1 10 -3H3L-2 2V-3H-4A3 3 0 0 1 -7 -6V-12A3 3 0 0 1 -4 -15Z",
  pinned: "M18 -15H26V-13L25 -12V-8L27 -6V-4.500H22.700V1H21.300V-4.500H17V-6L19 -8V-12L18 -13Z",
};

// Comments and pins have a sign at the item's corner, other marks the item's own border.
/** @param {Element} element @param {string} name @param {boolean} on */
export function toggle(element, name, on) {
  element.classList.toggle(name, on);
  const sign = SIGNS[name];
  if (!sign) return;
  const old = element.querySelector(`:scope > .${name}-sign`);
  if (on && !old) make("path", { class: `${name}-sign`, d: sign }, element);
  if (!on) old?.remove();
}
