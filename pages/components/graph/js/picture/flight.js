// Flight: items drawn before fly from the old to the new place, the others fade in.
/** @import { Standing } from "../types.d.ts" */
/** @import { Stage } from "./stage.js" */

// The position of every drawn item and row, by id, and on request by its links, in coordinates of the picture.
/** @param {Stage} stage @param {boolean} [linked] */
export function standing(stage, linked = false) {
  /** @type {Standing} */
  const places = new Map();
  for (const [placed, element] of stage.drawn) {
    places.set(placed.item.id, { x: placed.x, y: placed.y });
    const m = stage.metrics;
    (placed.item.rows ?? []).forEach((row, at) =>
      places.set(row.id, { x: placed.x + m.rowInset, y: placed.y + element.rowsFrom + at * m.row })
    );
  }
  if (!linked) return places;
  for (const { item, x, y } of stage.drawn.keys()) {
    for (const link of item.links ?? []) if (!places.has(link)) places.set(link, { x, y });
  }
  return places;
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
    const old = [placed.item.id, ...(placed.item.links ?? [])].map((id) => before.get(id)).find(Boolean);
    const [dx, dy] = old ? [old.x + shift.x - placed.x, old.y + shift.y - placed.y] : [0, 0];
    if (old) flyFrom(element, dx, dy, ms);
    const m = stage.metrics;
    const rows = (placed.item.rows ?? []).map((row, at) => ({
      from: before.get(row.id),
      element: element.rows[at],
      y: element.rowsFrom + at * m.row,
    }));
    for (const row of rows) {
      if (row.from) {
        flyFrom(
          row.element,
          row.from.x + shift.x - placed.x - m.rowInset - dx,
          row.from.y + shift.y - placed.y - row.y - dy,
          ms,
        );
      }
    }
    if (old) continue;
    if (!rows.some((row) => row.from)) fadeIn(element, ms);
    else for (const part of element.children) if (!part.classList.contains("row")) fadeIn(part, ms);
  }
  fadeIn(stage.edges, ms);
}
