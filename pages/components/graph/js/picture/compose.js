// Pure geometry: laid-out levels and the set of unfolded groups become one picture. A level is warped to make room,
// never laid out again.
import { ALONE, inColumns, LAUNCHES, OPS } from "./columns.js";
import { Lanes } from "./route.js";
import { warp } from "./warp.js";
/** @import { Box, Composed, Item, LaidOut, Levels, Line, Picture, Placed, Rect } from "../types.d.ts" */

const HEADER = 34;
const HULL_HEADER = 52;
// Below its title a group has room for edges that turn.
export const BELOW = 10;
const INSET = 14;
const GAP = 28;
const SHAPE = 1.6;
const LEAST_SHELF = 900;
const STUBS = 6;
const ABOVE = 10;
const MOST_BESIDE = 3;

// A hull is a group of the ops of one kernel launch; its header has a second line, for time and bytes.
/** @param {Item} item */
export function isHull({ kind }) {
  return kind === "launch" || kind === "library";
}

/** @param {Item} item */
export function headerOf(item) {
  return isHull(item) ? HULL_HEADER : HEADER;
}

/** @param {Box[]} boxes @param {number[][]} curves */
function extent(boxes, curves) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  const reach = (/** @type {number} */ x, /** @type {number} */ y) => {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  };
  for (const box of boxes) reach(box.X, box.Y), reach(box.X + box.W, box.Y + box.H);
  for (const points of curves) for (let i = 0; i < points.length; i += 6) reach(points[i], points[i + 1]);
  return boxes.length ? [left, top, right, bottom] : [0, 0, 0, 0];
}

// Shelves from the laid-out sizes, so that unfolding never moves a part to another shelf; true sizes only push.
/** @param {number[][]} folded @param {number[][]} sizes */
function shelve(folded, sizes) {
  const area = folded.reduce((sum, [w, h]) => sum + (w + GAP) * (h + GAP), 0);
  const most = Math.max(...folded.map(([w]) => w), Math.sqrt(area * SHAPE), LEAST_SHELF);
  /** @type {[number, number][]} */
  const corners = [];
  let [used, x, y, high, width] = [0, 0, 0, 0, 0];
  folded.forEach(([w], index) => {
    if (used > 0 && used + w > most) [used, x, y, high] = [0, 0, y + high + GAP, 0];
    corners.push([x, y]);
    used += w + GAP;
    x += sizes[index][0] + GAP;
    high = Math.max(high, sizes[index][1]);
    width = Math.max(width, x - GAP);
  });
  return { corners, width, height: folded.length ? y + high : 0 };
}

// Room for columns of launches, the height from which they may be in some, and that of a launch with columns of ops.
/** @typedef {{ wide: boolean, from?: number, bent: number }} Room */

// Compose a level with the unfolded levels inside it, in its own coordinates.
/**
 * @param {Levels} levels
 * @param {Set<number>} unfolded
 * @param {LaidOut} level
 * @param {number} gid
 * @param {Room} room
 * @param {boolean} [alone] little is beside the level
 * @param {boolean} [launched] the level is of a launch's ops
 * @returns {Composed}
 */
function composeLevel(levels, unfolded, level, gid, room, alone = true, launched = false) {
  const few = alone && level.items.length <= MOST_BESIDE;
  const inner = level.items.map((item) => {
    const { g } = item;
    const inside = g !== undefined && unfolded.has(g) ? levels.get(g) : undefined;
    return g !== undefined && inside ? composeLevel(levels, unfolded, inside, g, room, few, isHull(item)) : null;
  });
  const boxes = level.items.map((item, index) => {
    const { x, y, w, h } = item;
    const inside = inner[index];
    const [W, H] = inside
      ? [Math.max(w, inside.width + 2 * INSET), Math.max(h, inside.height + headerOf(item) + INSET)]
      : [w, h];
    return { x, y, w, h, X: x, Y: y, W, H };
  });
  /** @type {{ boxes: Box[], edges: number[], corner: number[] }[]} */
  const inPart = level.parts.map(() => ({ boxes: [], edges: [], corner: [0, 0] }));
  level.items.forEach((item, index) => inPart[item.part].boxes.push(boxes[index]));
  level.edges.forEach((edge, index) => inPart[level.items[edge.s].part].edges.push(index));
  /** @type {number[][]} */
  const curves = new Array(level.edges.length);
  const sizes = inPart.map((part, number) => {
    const grown = part.boxes.some((box) => box.W > box.w || box.H > box.h);
    const straight = part.edges.map((index) => {
      const { s, t, points } = level.edges[index];
      return { points, source: boxes[s], target: boxes[t] };
    });
    const warped = grown ? warp(part.boxes, straight) : straight.map(({ points }) => points);
    const launches = alone ? ALONE : LAUNCHES;
    const isOfGroups = room.wide && level.items.some(({ g }) => g !== undefined);
    const px = Math.min(launches.px, room.from ?? Infinity);
    const strip = isOfGroups ? { ...launches, px } : launched ? { ...OPS, px: room.bent } : undefined;
    const columns = inColumns(part.boxes, straight.map((edge, at) => ({ ...edge, points: warped[at] })), strip);
    const bent = columns ?? warped;
    part.edges.forEach((index, at) => (curves[index] = bent[at]));
    if (!grown && !columns) return level.parts[number];
    const [left, knots, right, bottom] = extent(part.boxes, bent);
    // Curves over columns are below a header.
    const top = columns ? knots - ABOVE : knots;
    part.corner = [left, top];
    return [right - left, bottom - top];
  });
  const { corners, width, height } = shelve(level.parts, sizes);
  const offsets = corners.map(([x, y], number) => [x - inPart[number].corner[0], y - inPart[number].corner[1]]);
  return { level, gid, boxes, inner, curves, offsets, width, height };
}

/** @param {number[]} points @param {number} dx @param {number} dy */
function shifted(points, dx, dy) {
  /** @type {number[]} */
  const out = new Array(points.length);
  for (let i = 0; i < points.length; i += 2) [out[i], out[i + 1]] = [points[i] + dx, points[i + 1] + dy];
  return out;
}

/** @param {number[]} points @returns {Rect} */
function around(points) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < points.length; i += 2) {
    [left, right] = [Math.min(left, points[i]), Math.max(right, points[i])];
    [top, bottom] = [Math.min(top, points[i + 1]), Math.max(bottom, points[i + 1])];
  }
  return [left, top, right, bottom];
}

/**
 * @param {Composed} composed
 * @param {number} left
 * @param {number} top
 * @param {number} depth
 * @param {Picture} picture
 */
function spread(composed, left, top, depth, picture) {
  const { level, gid, boxes, inner, curves, offsets } = composed;
  const placed = level.items.map((item, index) => {
    const [dx, dy] = offsets[item.part];
    const { X, Y, W: w, H: h } = boxes[index];
    const [x, y] = [left + dx + X, top + dy + Y];
    const inside = inner[index];
    const here = { item, gid, index, depth, open: inside !== null, x, y, w, h, box: [x, y, x + w, y + h] };
    picture.items.push(here);
    if (!inside) return here;
    picture.open.set(inside.gid, here);
    spread(inside, x + (w - inside.width) / 2, y + headerOf(item), depth + 1, picture);
    return here;
  });
  picture.levels.set(gid, placed);
  const lines = level.edges.map((edge, index) => {
    const [dx, dy] = offsets[level.items[edge.s].part];
    const points = shifted(curves[index], left + dx, top + dy);
    /** @type {Line} */
    const line = {
      edge,
      gid,
      index,
      s: placed[edge.s],
      t: placed[edge.t],
      points,
      stubs: [],
      box: around(points),
    };
    return line;
  });
  picture.lines.set(gid, lines);
  for (const line of lines) picture.edges.push(line);
}

// The visible item that contains a node: searched level by level, since a group covers a range of nodes.
/**
 * @param {Picture} picture
 * @param {Levels} levels
 * @param {number} node
 * @param {number} [from]
 * @returns {Placed | null}
 */
function holderOf(picture, levels, node, from = -1) {
  const placed = picture.levels.get(from);
  const level = levels.get(from);
  if (!placed || !level) return null;
  const index = level.nodeAt?.get(node) ??
    level.items.findIndex((item) => item.i === node || (item.g !== undefined && item.from <= node && node < item.to));
  if (index < 0) return null;
  return placed[index].open ? holderOf(picture, levels, node, level.items[index].g) ?? placed[index] : placed[index];
}

// An edge continues thinly from the border of an unfolded group to its items inside.
/** @param {Picture} picture @param {Levels} levels */
function continuations(picture, levels) {
  const lanes = new Lanes(picture);
  for (const line of picture.edges) {
    for (const side of [0, 1]) {
      const box = side ? line.t : line.s;
      if (!box.open) continue;
      const p = line.points;
      const [x, y] = side ? p.slice(-2) : p.slice(0, 2);
      for (const ends of (line.edge.ends ?? []).slice(0, STUBS)) {
        const inner = holderOf(picture, levels, ends[side], box.item.g);
        if (!inner || inner === box) continue;
        const same = line.stubs.find((other) => other.inner === inner && other.side === side);
        if (same) same.ends.push(ends);
        else {
          const channel = side ? headerOf(box.item) - BELOW / 2.5 : INSET / 2;
          const points = lanes.route(line, box, inner, [x, y], side, channel);
          line.stubs.push({ of: line, side, inner, ends: [ends], points, box: around(points) });
        }
      }
    }
    picture.stubs.push(...line.stubs);
  }
}

// The whole picture: items and edges in one coordinate system, with its top-left corner at 0, 0.
/** @param {Levels} levels @param {Set<number>} unfolded @param {Room} [room] @returns {Picture} */
export function compose(levels, unfolded, room = { wide: false, bent: Infinity }) {
  /** @type {Picture} */
  const picture = {
    width: 0,
    height: 0,
    items: [],
    edges: [],
    stubs: [],
    open: new Map(),
    levels: new Map(),
    lines: new Map(),
    changes: false,
  };
  const root = levels.get(-1);
  if (!root) throw new Error("A graph without its top level.");
  const composed = composeLevel(levels, unfolded, root, -1, room);
  spread(composed, 0, 0, 0, picture);
  continuations(picture, levels);
  const changes = picture.items.some(({ item }) => item.f?.length) || picture.edges.some(({ edge }) => edge.f?.length);
  return Object.assign(picture, { changes, width: composed.width, height: composed.height });
}
