// Navigation: the neighbours of an item over all levels, and the item that an arrow key leads to.
import { nearest } from "./dom.js";
import { headerOf, isHull } from "./picture/compose.js";
/** @import { Line, Picture, Placed, Rect, Stub } from "./types.d.ts" */
/** @import { Drawing } from "./drawing.js" */
/** @import { Graph } from "./model.js" */

const TOUCHING = 4;
const LEAST_ASIDE = 60;
const FARTHER = 1e6;

// All edges of an item: those of its own level, and edges of the groups around it that end at the item.
/** @param {Graph} graph @param {Picture} picture @param {Placed | null} placed */
export function edgesAround(graph, picture, placed) {
  if (!placed) return { lines: [], outs: [], ins: [] };
  const { item } = placed;
  const [first, last] = item.g === undefined ? [item.i, item.i + 1] : [item.from, item.to];
  /** @type {Set<Line | Stub>} */
  const lines = new Set();
  /** @type {Set<Placed>[]} */
  const others = [new Set(), new Set()];
  const mine = (/** @type {number} */ node) => first <= node && node < last;
  /** @param {Line} line @param {number} side @param {[number, number][]} [pairs] */
  const follow = (line, side, pairs) => {
    lines.add(line);
    const far = side === 0 ? line.t : line.s;
    const inner = line.stubs.filter((stub) =>
      stub.side !== side &&
      (!pairs || stub.ends.some((ends) => pairs.some((pair) => pair[1 - side] === ends[1 - side])))
    );
    for (const stub of inner) lines.add(stub), others[side].add(stub.inner);
    for (const stub of line.stubs) {
      if (stub.side === side && (!pairs || stub.ends.some((ends) => mine(ends[side])))) lines.add(stub);
    }
    if (!inner.length) others[side].add(far);
  };
  // The lines of a level that start (0) or end (1) at one of its items.
  const linesAt = (/** @type {number} */ gid, /** @type {number} */ index, /** @type {number} */ side) => {
    const level = graph.levels.get(gid);
    const drawn = picture.lines.get(gid);
    return level && drawn ? (side ? level.in : level.out)[index].map((line) => drawn[line]) : [];
  };
  for (const side of [0, 1]) for (const line of linesAt(placed.gid, placed.index, side)) follow(line, side);
  for (let gid = placed.gid; gid !== -1; gid = graph.parents.get(gid) ?? -1) {
    const holder = picture.open.get(gid);
    if (!holder) break;
    for (const side of [0, 1]) {
      for (const line of linesAt(holder.gid, holder.index, side)) {
        const pairs = (line.edge.ends ?? []).filter((ends) => mine(ends[side]));
        if (pairs.length) follow(line, side, pairs);
      }
    }
  }
  return { lines: [...lines], outs: [...others[0]], ins: [...others[1]] };
}

// The box that an arrow key leads to: the nearest one in its direction, as seen on screen. At the foot of a column, and
// at its head, the key follows an edge, not aside into another column. With `groups`, the nearest hull or group, for
// which its header stands.
/**
 * @param {Drawing} drawing
 * @param {number} across
 * @param {number} down
 * @param {boolean} [groups]
 * @returns {Placed | null | undefined}
 */
export function walkFrom(drawing, across, down, groups = false) {
  const { graph, picture, stage, film, choice } = drawing;
  const from = choice ? drawing.placedOf(choice.id) : null;
  const there = picture.items.filter(({ item, open }) =>
    stage.visible(item) && (groups ? item.g !== undefined && !(film.fusing && isHull(item)) : !open)
  );
  // The first one in the model's order: columns begin at different heights.
  if (!from) return nearest(there, ({ item }) => item.i ?? item.from);
  const start = areaOf(from);
  const next = nearest(
    there,
    (placed) => placed === from ? Infinity : distanceTo(start, areaOf(placed), across, down, groups),
  );
  if (!down || (next && asideOf(start, areaOf(next), 0) <= LEAST_ASIDE)) return next;
  // Of an op, the group that has it.
  const groupOf = (/** @type {Placed} */ placed) =>
    groups && placed.item.g === undefined ? picture.open.get(placed.gid) : placed;
  const own = groupOf(from) ?? from;
  const { outs, ins } = edgesAround(graph, picture, own);
  const ends = (down > 0 ? outs : ins).flatMap((end) => {
    const placed = groupOf(end);
    return placed && placed !== own && stage.visible(placed.item) && (!groups || there.includes(placed)) ? placed : [];
  });
  return nearest(ends, (placed) => Math.abs(placed.x - from.x)) ?? next;
}

/** @param {Placed} placed @returns {Rect} */
function areaOf({ item, open, x, y, w, h }) {
  return [x, y, x + w, y + (open ? headerOf(item) : h)];
}

// How far a box is aside from another: in x (0) or in y (1).
/** @param {Rect} from @param {Rect} to @param {number} axis */
function asideOf(from, to, axis) {
  return Math.max(0, to[axis] - from[axis + 2], from[axis] - to[axis + 2]);
}

// How far a box is in a direction: the gap ahead counts once, a step aside double. Boxes that are mainly aside are out.
// Of groups, those straight above or below come first: an open one is much higher than its header.
/** @param {Rect} from @param {Rect} to @param {number} across @param {number} down @param {boolean} groups */
function distanceTo(from, to, across, down, groups) {
  const [near, far] = across ? [0, 2] : [1, 3];
  const [left, right] = across ? [1, 3] : [0, 2];
  const ahead = across + down > 0 ? to[near] - from[far] : from[near] - to[far];
  const aside = asideOf(from, to, left);
  const middle = Math.abs(to[left] + to[right] - from[left] - from[right]) / 2;
  if (ahead < -TOUCHING || aside > 2 * ahead + LEAST_ASIDE) return Infinity;
  return Math.max(0, ahead) + 2 * aside + middle / 8 + (groups && down && aside ? FARTHER : 0);
}
