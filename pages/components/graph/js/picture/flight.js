// Flight: items drawn before fly from the old to the new place, the others fade in.
/** @import { Standing } from "../types.d.ts" */
/** @import { Stage } from "./stage.js" */

// The position of every drawn item, by id, in coordinates of the picture.
/** @param {Stage} stage @returns {Standing} */
export function standing(stage) {
  return new Map([...stage.drawn.keys()].map(({ item, x, y }) => [item.id, { x, y }]));
}

/** @param {SVGGElement} element @param {number} dx @param {number} dy @param {number} ms */
function flyFrom(element, dx, dy, ms) {
  if (!dx && !dy) return;
  const here = element.transform.baseVal.consolidate()?.matrix ?? { e: 0, f: 0 };
  const at = (/** @type {number} */ x, /** @type {number} */ y) => ({
    transform: `translate(${here.e + x}px, ${here.f + y}px)`,
  });
  element.animate([at(dx, dy), at(0, 0)], { duration: ms, easing: "ease-in-out" });
}

/** @param {Element} element @param {number} ms */
function fadeIn(element, ms) {
  element.animate([{ opacity: 0 }, { opacity: 0, offset: 0.3 }, { opacity: 1 }], { duration: ms });
}

// Move the drawn items from their earlier positions; `shift` is the jump of the camera, in coordinates of the picture.
/** @param {Stage} stage @param {Standing} before @param {{ x: number, y: number }} shift @param {number} ms */
export function flyAll(stage, before, shift, ms) {
  for (const [placed, element] of stage.drawn) {
    const old = before.get(placed.item.id);
    if (old) flyFrom(element, old.x + shift.x - placed.x, old.y + shift.y - placed.y, ms);
    else fadeIn(element, ms);
  }
  fadeIn(stage.edges, ms);
}
