// Pure geometry: laid-out levels and the set of unfolded groups become one picture. A level is warped to make room,
// never laid out again.
/** @import { Box, Composed, Curve, Growth, Levels, Picture, Placed } from "./types.d.ts" */

export const HEADER = 30;
const INSET = 14;
const AIR = 14;
const GAP = 28;
const SHAPE = 1.6;
const STUBS = 6;

// Where a value comes to lie when each of the sorted, disjoint ranges grows about its middle and pushes the rest aside.
/** @param {Growth[]} ranges @param {number} value */
function stretch(ranges, value) {
  let moved = value;
  for (const { from, to, by } of ranges) {
    if (value <= from) break;
    moved += value >= to ? by : (by * (value - from)) / Math.max(to - from, 1e-9);
  }
  return moved;
}

// The rows of a part: items of one rank share their middle. A row knows how much it grows in height and where in width.
/** @param {Box[]} boxes */
function rowsOf(boxes) {
  const rows = new Map();
  for (const box of boxes) {
    const key = Math.round((box.y + box.h / 2) * 2);
    rows.has(key) ? rows.get(key).push(box) : rows.set(key, [box]);
  }
  const sorted = [...rows.keys()].sort((a, b) => a - b).map((key) => rows.get(key));
  return sorted.map((members) => {
    const height = Math.max(...members.map((box) => box.h));
    const middle = members[0].y + members[0].h / 2;
    const grown = members.filter((box) => box.W > box.w || box.H > box.h).sort((a, b) => a.x - b.x);
    const taller = Math.max(...members.map((box) => box.H)) - height;
    const across = grown.map((box) => ({ from: box.x, to: box.x + box.w, by: box.W - box.w }));
    const left = grown.reduce((sum, box) => sum + (box.W - box.w), 0) / 2;
    return {
      members,
      from: middle - height / 2,
      to: middle + height / 2,
      by: taller > 0 ? taller + AIR : 0,
      middle,
      across,
      left,
      grown,
    };
  });
}

// The halves of the cubic p at t (de Casteljau).
/** @param {number[]} p @param {number} t */
function halves(p, t) {
  const mix = (a, b) => a + (b - a) * t;
  const x = [p[0], p[2], p[4], p[6]];
  const y = [p[1], p[3], p[5], p[7]];
  const left = [x[0], y[0]];
  const right = [x[3], y[3]];
  for (let round = 3; round > 0; round -= 1) {
    for (let i = 0; i < round; i += 1) [x[i], y[i]] = [mix(x[i], x[i + 1]), mix(y[i], y[i + 1])];
    left.push(x[0], y[0]);
    right.unshift(x[round - 1], y[round - 1]);
  }
  return [left, right];
}

// The same curve with a knot where it crosses the height `at`, so that both sides can be moved apart.
/** @param {number[]} points @param {number} at */
export function knotAt(points, at) {
  const out = points.slice(0, 2);
  for (let i = 0; i + 7 < points.length; i += 6) {
    const piece = points.slice(i, i + 8);
    const [start, end] = [piece[1], piece[7]];
    if ((start - at) * (end - at) >= 0 || Math.min(Math.abs(start - at), Math.abs(end - at)) < 0.5) {
      out.push(...piece.slice(2));
      continue;
    }
    let [low, high] = [0, 1];
    for (let step = 0; step < 24; step += 1) {
      const t = (low + high) / 2;
      const y = halves(piece, t)[0][7];
      (y - at) * (start - at) > 0 ? (low = t) : (high = t);
    }
    const [one, other] = halves(piece, (low + high) / 2);
    out.push(...one.slice(2), ...other.slice(2));
  }
  return out;
}

// Move every knot of a curve; its handles move with it, which keeps the curve smooth.
/** @param {number[]} points @param {(x: number, y: number, end: number) => number[]} moved */
function moveKnots(points, moved) {
  const out = new Array(points.length);
  for (let i = 0; i < points.length; i += 6) {
    const [x, y] = moved(points[i], points[i + 1], i === 0 ? 0 : i === points.length - 2 ? 1 : -1);
    const [dx, dy] = [x - points[i], y - points[i + 1]];
    for (const at of [i - 2, i, i + 2]) {
      if (at < 0 || at >= points.length) continue;
      [out[at], out[at + 1]] = [points[at] + dx, points[at + 1] + dy];
    }
  }
  return out;
}

// Where an edge's end comes to lie on its box, which may have grown.
/** @param {Box} box @param {number} x @param {number} y */
function onBorder(box, x, y) {
  const [cx, cy] = [box.x + box.w / 2, box.y + box.h / 2];
  const [right, down] = [(x - cx) / Math.max(box.w / 2, 1), (y - cy) / Math.max(box.h / 2, 1)];
  const bound = (value) => Math.min(1, Math.max(-1, value));
  return [box.X + box.W / 2 + (bound(right) * box.W) / 2, box.Y + box.H / 2 + (bound(down) * box.H) / 2];
}

// Place the boxes of one part (each with its laid-out x, y, w, h and its true W, H) and bend its curves around them.
/** @param {Box[]} boxes @param {Curve[]} curves */
function warp(boxes, curves) {
  const rows = rowsOf(boxes);
  const bands = rows.filter((row) => row.by > 0 || row.grown.length);
  const down = bands.map(({ from, to, by }) => ({ from, to, by }));
  const across = (row, x) => stretch(row.across, x) - row.left;
  for (const row of rows) {
    const middle = stretch(down, row.middle);
    for (const box of row.members) {
      box.X = across(row, box.x + box.w / 2) - box.W / 2;
      box.Y = middle - box.H / 2;
    }
  }
  return curves.map(({ points, source, target }) => {
    let knots = points;
    for (const band of bands) knots = knotAt(knotAt(knots, band.from), band.to);
    return moveKnots(knots, (x, y, end) => {
      if (end >= 0) return onBorder(end ? target : source, x, y);
      const row = bands.find((band) => y >= band.from - 0.5 && y <= band.to + 0.5);
      return [row ? across(row, x) : x, stretch(down, y)];
    });
  });
}

/** @param {Box[]} boxes @param {number[][]} curves */
function extent(boxes, curves) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  const reach = (x, y) => {
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
  const most = Math.max(...folded.map(([w]) => w), Math.sqrt(area * SHAPE), 1);
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

// One level with the unfolded levels inside it, in its own coordinates.
/** @param {Levels} levels @param {Set<number>} unfolded @param {number} gid @returns {Composed} */
function composeLevel(levels, unfolded, gid) {
  const level = levels.get(gid);
  const inner = level.items.map((
    item,
  ) => (item.g !== undefined && unfolded.has(item.g) && levels.has(item.g)
    ? composeLevel(levels, unfolded, item.g)
    : null)
  );
  const boxes = level.items.map((item, index) => {
    const { x, y, w, h } = item;
    const inside = inner[index];
    const [W, H] = inside
      ? [Math.max(w, inside.width + 2 * INSET), Math.max(h, inside.height + HEADER + INSET)]
      : [w, h];
    return { x, y, w, h, X: x, Y: y, W, H };
  });
  const inPart = level.parts.map(() => ({ boxes: [], edges: [], corner: [0, 0] }));
  level.items.forEach((item, index) => inPart[item.part].boxes.push(boxes[index]));
  level.edges.forEach((edge, index) => inPart[level.items[edge.s].part].edges.push(index));
  const curves = new Array(level.edges.length);
  const sizes = inPart.map((part, number) => {
    const straight = part.edges.map((index) => level.edges[index].points);
    const grown = part.boxes.some((box) => box.W > box.w || box.H > box.h);
    const ends = (index) => ({ source: boxes[level.edges[index].s], target: boxes[level.edges[index].t] });
    const bent = grown
      ? warp(part.boxes, part.edges.map((index) => ({ points: level.edges[index].points, ...ends(index) })))
      : straight;
    part.edges.forEach((index, at) => (curves[index] = bent[at]));
    if (!grown) return level.parts[number];
    const [left, top, right, bottom] = extent(part.boxes, bent);
    part.corner = [left, top];
    return [right - left, bottom - top];
  });
  const { corners, width, height } = shelve(level.parts, sizes);
  const offsets = corners.map(([x, y], number) => [x - inPart[number].corner[0], y - inPart[number].corner[1]]);
  return { level, gid, boxes, inner, curves, offsets, width, height };
}

/** @param {number[]} points @param {number} dx @param {number} dy */
function shifted(points, dx, dy) {
  const out = new Array(points.length);
  for (let i = 0; i < points.length; i += 2) [out[i], out[i + 1]] = [points[i] + dx, points[i + 1] + dy];
  return out;
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
    const box = boxes[index];
    const here = {
      item,
      gid,
      index,
      depth,
      open: inner[index] !== null,
      x: left + dx + box.X,
      y: top + dy + box.Y,
      w: box.W,
      h: box.H,
    };
    picture.items.push(here);
    if (!inner[index]) return here;
    picture.open.set(item.g, here);
    spread(inner[index], here.x + (box.W - inner[index].width) / 2, here.y + HEADER, depth + 1, picture);
    return here;
  });
  picture.levels.set(gid, placed);
  const lines = [];
  level.edges.forEach((edge, index) => {
    const [dx, dy] = offsets[level.items[edge.s].part];
    const points = shifted(curves[index], left + dx, top + dy);
    lines.push({ edge, gid, index, s: placed[edge.s], t: placed[edge.t], points, stubs: [] });
  });
  picture.lines.set(gid, lines);
  for (const line of lines) picture.edges.push(line);
}

// The visible item that holds a node: found level by level, since a group covers a range of nodes.
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

// From the border of an unfolded group on, an edge goes on, thinly, to the items inside that it is about.
/** @param {Picture} picture @param {Levels} levels */
function continuations(picture, levels) {
  for (const here of picture.edges) {
    for (const side of [0, 1]) {
      const box = side ? here.t : here.s;
      if (!box.open) continue;
      const p = here.points;
      const [x, y] = side ? p.slice(-2) : p.slice(0, 2);
      for (const ends of (here.edge.ends ?? []).slice(0, STUBS)) {
        const inner = holderOf(picture, levels, ends[side], box.item.g);
        if (!inner || inner === box) continue;
        const same = here.stubs.find((other) => other.inner === inner && other.side === side);
        if (same) same.ends.push(ends);
        else here.stubs.push({ of: here, side, inner, ends: [ends], points: stub(inner, x, y, side) });
      }
    }
    picture.stubs.push(...here.stubs);
  }
}

/** @param {Placed} inner @param {number} x @param {number} y @param {number} side */
function stub(inner, x, y, side) {
  const from = [inner.x + inner.w / 2, side ? inner.y : inner.y + inner.h];
  const bend = Math.max(12, Math.min(60, Math.abs(y - from[1]) / 2)) * (side ? 1 : -1);
  const curve = [x, y, x, y + bend, from[0], from[1] - bend, ...from];
  return side ? curve : [from[0], from[1], from[0], from[1] - bend, x, y + bend, x, y];
}

// The whole picture: items and edges in one coordinate system, with its top-left corner at 0, 0.
/** @param {Levels} levels @param {Set<number>} unfolded @returns {Picture} */
export function compose(levels, unfolded) {
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
  };
  const composed = composeLevel(levels, unfolded, -1);
  spread(composed, 0, 0, 0, picture);
  continuations(picture, levels);
  return Object.assign(picture, { width: composed.width, height: composed.height });
}
