// Where a picture opens: whole if it is readable then, else at its top. Launches are read from farther away than ops,
// by their signs, and the point of their picture is to see all of them.
import { isPresenting } from "../../../js/room.js";
import { OPS } from "./columns.js";
import { compose, isHull } from "./compose.js";
/** @import { Room } from "./compose.js" */
/** @import { Levels, Picture, Placed } from "../types.d.ts" */

export const MARGIN = 20;
export const LARGEST = 1.25;
const LEAST = 0.7;
const LEAST_WHOLE = 0.6;
const LEAST_LAUNCHES = 0.34;
const CROPPED = 0.85;
const WIDE = 1.3;
// Views that are less high show the whole picture, as a thumbnail.
const THUMBNAIL = 230;
const PRESENTED = 1.4;
const BENT = 1.1;
const LONGEST = 0.75;
const LOW = 260;
const MOST_BENT = 1000;
// Narrower views, as of a phone, have launches one below the other.
const LEAST_WIDE = 620;
// The smallest text of a node has 14 pixels.
export const LEAST_PRESENTED = 1.28;

/** @typedef {{ width: number, height: number }} Size */

// The largest scale at which a picture is seen whole.
/** @param {Size} picture @param {Size} view */
export function scaleOfWhole(picture, view) {
  // A view that is being laid out may have no room yet.
  const [across, down] = [view.width, view.height].map((size) => Math.max(1, size - 2 * MARGIN));
  return Math.min(across / (picture.width || 1), down / (picture.height || 1));
}

// The picture for a view: of launches, with those in columns, or the ops of the longest, or of all long ones, if the
// whole is seen so much larger then. A wide view has columns of launches in any case.
/** @param {Levels} levels @param {Set<number>} unfolded @param {Size} view */
export function composeFor(levels, unfolded, view) {
  const launched = [...levels.values()].some(({ items }) => items.some(isHull));
  const wide = launched && view.width > LEAST_WIDE;
  const plain = compose(levels, unfolded, { wide, bent: Infinity });
  let best = plain;
  const larger = (/** @type {Room} */ room) => {
    const next = compose(levels, unfolded, room);
    if (scaleOfWhole(next, view) > BENT * scaleOfWhole(best, view)) best = next;
  };
  if (!launched || scaleOfWhole(plain, view) >= 1 || plain.items.length > MOST_BENT) return plain;
  if (!wide) larger({ wide: true, bent: Infinity });
  const highest = Math.max(...best.items.map(({ item, open, h }) => open && isHull(item) ? h : 0));
  for (const bent of new Set([LONGEST * highest, OPS.px])) {
    if (bent >= OPS.px && highest > bent) {
      for (const each of wide ? [true] : [false, true]) larger({ wide: each, bent });
    }
  }
  if (scaleOfWhole(best, view) < 1) larger({ wide: true, from: LOW, bent: Infinity });
  // Where the whole is not seen, launches are read from the top down.
  return view.height < THUMBNAIL || scaleOfWhole(best, view) >= LEAST_LAUNCHES ? best : plain;
}

/** @param {Picture} picture @param {Size} view */
export function openingOf(picture, view) {
  const { width, height } = view;
  let [left, right, widest] = [picture.width, 0, 0];
  /** @type {Placed | null} */
  let top = null;
  for (const item of picture.items) {
    if (item.depth > 0 || item.y >= height / LEAST - MARGIN) continue;
    [left, right] = [Math.min(left, item.x), Math.max(right, item.x + item.w)];
    widest = Math.max(widest, item.w);
    if (!top || item.y < top.y) top = item;
  }
  const whole = scaleOfWhole(picture, view);
  const k = scaleOf(picture, view, whole, Math.max(1, width - 2 * MARGIN) / Math.max(right - left, 1));
  const half = width / 2 / k - MARGIN;
  const fits = (right - left) * k <= width - 2 * MARGIN + 1;
  // A box much wider than the view, such as layers in columns, is read from its left edge.
  const wanted = top && widest * k < WIDE * width ? top.x + top.w / 2 : left;
  const middle = k <= whole
    ? picture.width / 2
    : fits || !top
    ? (left + right) / 2
    : Math.min(Math.max(wanted, left + half), Math.max(right - half, left + half));
  const rest = height - picture.height * k;
  return { k, x: width / 2 - middle * k, y: rest > 2 * MARGIN ? rest / 2 : MARGIN };
}

/** @param {Picture} picture @param {Size} view @param {number} whole @param {number} across */
function scaleOf({ items }, { height }, whole, across) {
  if (isPresenting()) return Math.min(PRESENTED, Math.max(LEAST_PRESENTED, across));
  if (height < THUMBNAIL) return Math.min(1, whole);
  const least = items.some(({ item }) => isHull(item)) ? LEAST_LAUNCHES : across < LEAST ? LEAST_WHOLE : LEAST;
  if (whole >= least) return Math.min(LARGEST, whole);
  return across >= LEAST ? Math.min(1, across) : CROPPED;
}
