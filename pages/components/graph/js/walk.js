// Navigation along edges: the neighbours of an item over all levels, and the item that an arrow key leads to.
import { nearest } from "./dom.js";
/** @import { Line, Picture, Placed, Stub } from "./types.d.ts" */
/** @import { Drawing } from "./drawing.js" */
/** @import { Graph } from "./model.js" */

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

// Down and up follow edges; left and right go to the item beside.
/**
 * @param {Drawing} drawing
 * @param {number} across
 * @param {number} down
 * @returns {Placed | null | undefined}
 */
export function walkFrom(drawing, across, down) {
  const { graph, picture, stage, choice } = drawing;
  const from = choice ? drawing.placedOf(choice.id) : null;
  const there = picture.items.filter((placed) => stage.visible(placed.item));
  if (!from) {
    return nearest(there.filter((placed) => placed.depth === 0), (placed) => placed.y * 1e4 + placed.x);
  }
  const [cx, cy] = [from.x + from.w / 2, from.y + from.h / 2];
  if (down) {
    const { outs, ins } = edgesAround(graph, picture, from);
    const ends = (down > 0 ? outs : ins).filter((placed) => placed !== from && stage.visible(placed.item));
    return nearest(ends, (placed) => Math.abs(placed.x + placed.w / 2 - cx));
  }
  const beside = there.filter((placed) =>
    !placed.open && (placed.x + placed.w / 2 - cx) * across > 1 && placed.y < from.y + from.h + 20 &&
    placed.y + placed.h > from.y - 20
  );
  return nearest(
    beside,
    (placed) => Math.abs(placed.x + placed.w / 2 - cx) + Math.abs(placed.y + placed.h / 2 - cy),
  );
}
