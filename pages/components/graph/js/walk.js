// Along the edges: what an item is connected to over all levels, and which item an arrow key leads to.
import { nearest } from "./dom.js";
/** @import { RowData } from "../../js/wire.d.ts" */
/** @import { Picture, Placed } from "./types.d.ts" */
/** @import { Graph } from "./model.js" */
/** @import { GraphView } from "./view.js" */

// All edges of an item: those of its own level, and those of the groups around it that are about it.
/** @param {Graph} graph @param {Picture} picture @param {Placed} placed */
export function edgesAround(graph, picture, placed) {
  const { item } = placed;
  const [first, last] = item.g === undefined ? [item.i, item.i + 1] : [item.from, item.to];
  const lines = new Set();
  const others = [new Set(), new Set()];
  const mine = (node) => first <= node && node < last;
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
  const own = graph.levels.get(placed.gid);
  const drawn = picture.lines.get(placed.gid) ?? [];
  for (const index of own.out[placed.index]) follow(drawn[index], 0);
  for (const index of own.in[placed.index]) follow(drawn[index], 1);
  for (let gid = placed.gid; gid !== -1; gid = graph.parents.get(gid)) {
    const parent = graph.parents.get(gid);
    const holder = picture.open.get(gid);
    if (!holder) break;
    const level = graph.levels.get(parent);
    for (const side of [0, 1]) {
      for (const index of (side ? level.in : level.out)[holder.index]) {
        const pairs = (level.edges[index].ends ?? []).filter((ends) => mine(ends[side]));
        if (pairs.length) follow(picture.lines.get(parent)[index], side, pairs);
      }
    }
  }
  return { lines: [...lines], outs: [...others[0]], ins: [...others[1]] };
}

// Down and up follow edges (through a node's own rows first); left and right go to what stands beside.
/**
 * @param {GraphView} view
 * @param {number} across
 * @param {number} down
 * @returns {{ placed?: Placed, row?: RowData | null }}
 */
export function walkFrom(view, across, down) {
  const { graph, picture, stage } = view;
  const from = view.choice ? view.placedOf(view.choice.id) : null;
  const there = picture.items.filter((placed) => stage.visible(placed.item));
  if (!from) {
    return { placed: nearest(there.filter((placed) => placed.depth === 0), (placed) => placed.y * 1e4 + placed.x) };
  }
  const [cx, cy] = [from.x + from.w / 2, from.y + from.h / 2];
  if (down) {
    const { rows = [] } = from.item;
    const at = rows.findIndex((row) => row.id === view.choice.id);
    if (down > 0 && rows[at + 1]) return { placed: from, row: rows[at + 1] };
    if (down < 0 && at >= 0) return { placed: from, row: rows[at - 1] ?? null };
    const { outs, ins } = edgesAround(graph, picture, from);
    const ends = (down > 0 ? outs : ins).filter((placed) => placed !== from && stage.visible(placed.item));
    return { placed: nearest(ends, (placed) => Math.abs(placed.x + placed.w / 2 - cx)) };
  }
  const beside = there.filter((placed) =>
    !placed.open && (placed.x + placed.w / 2 - cx) * across > 1 && placed.y < from.y + from.h + 20 &&
    placed.y + placed.h > from.y - 20
  );
  return {
    placed: nearest(
      beside,
      (placed) => Math.abs(placed.x + placed.w / 2 - cx) + Math.abs(placed.y + placed.h / 2 - cy),
    ),
  };
}
