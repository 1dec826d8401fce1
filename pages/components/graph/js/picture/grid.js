// Cells of the picture's plane, to find the items near a view without a search over all items.
import { filed } from "../dom.js";
/** @import { Line, Picture, Placed, Rect, Stub } from "../types.d.ts" */

const CELL = 512;
const WIDEST = 40;
const STRETCH = 1.5;

/** @template {Placed | Line | Stub} T */
export class Grid {
  constructor() {
    /** @type {Map<number, T[]>} */
    this.cells = new Map();
    /** @type {T[]} */
    this.wide = [];
  }

  /** @param {T} thing */
  add(thing) {
    const [x0, y0, x1, y1] = thing.box.map((value) => Math.floor(value / CELL));
    if ((x1 - x0 + 1) * (y1 - y0 + 1) > WIDEST) return void this.wide.push(thing);
    for (let cx = x0; cx <= x1; cx += 1) {
      for (let cy = y0; cy <= y1; cy += 1) {
        filed(this.cells, cx * 1e6 + cy, thing);
      }
    }
  }

  /** @param {Rect} rect */
  find([left, top, right, bottom]) {
    /** @type {Set<T>} */
    const found = new Set();
    /** @param {T} thing */
    const touch = (thing) =>
      thing.box[0] <= right && thing.box[2] >= left && thing.box[1] <= bottom && thing.box[3] >= top &&
      found.add(thing);
    this.wide.forEach(touch);
    const [x0, y0, x1, y1] = [left, top, right, bottom].map((value) => Math.floor(value / CELL));
    if ((x1 - x0 + 1) * (y1 - y0 + 1) > this.cells.size) {
      for (const things of this.cells.values()) things.forEach(touch);
      return found;
    }
    for (let cx = x0; cx <= x1; cx += 1) {
      for (let cy = y0; cy <= y1; cy += 1) this.cells.get(cx * 1e6 + cy)?.forEach(touch);
    }
    return found;
  }
}

/** @param {Rect} one @param {Rect} other */
export function overlap(one, other) {
  return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
}

/** @param {Rect} rect @param {Rect} outer @param {Picture} picture */
export function inside([left, top, right, bottom], outer, picture) {
  return Math.max(left, 0) >= outer[0] && Math.max(top, 0) >= outer[1] &&
    Math.min(right, picture.width) <= outer[2] && Math.min(bottom, picture.height) <= outer[3];
}

// True if what is painted for another scale has to be painted anew while the camera moves.
/** @param {number} scale */
export function isStretched(scale) {
  return scale > STRETCH || scale < 1 / STRETCH;
}

// The rectangle around boxes.
/** @param {Placed[]} boxes @returns {Rect} */
export function boundsOf(boxes) {
  const [left, top, right, bottom] = [0, 1, 2, 3].map((i) => boxes.map(({ box }) => box[i]));
  return [Math.min(...left), Math.min(...top), Math.max(...right), Math.max(...bottom)];
}
