// Room for boxes that have grown: the rows and curves of one part of a level, bent around them.
import { filed } from "../dom.js";
/** @import { Box, Curve, Growth } from "../types.d.ts" */

const AIR = 14;
const LEAD = 14;

// The new position of a value when each of the sorted, disjoint ranges grows about its middle and pushes the rest
// aside.
/** @param {Growth[]} ranges @param {number} value */
function stretch(ranges, value) {
  let moved = value;
  for (const { from, to, by } of ranges) {
    if (value <= from) break;
    moved += value >= to ? by : (by * (value - from)) / Math.max(to - from, 1e-9);
  }
  return moved;
}

// The rows of a part: items of one rank share their middle. A row has its growth in height, and in width by position.
/** @param {Box[]} boxes */
function rowsOf(boxes) {
  /** @type {Map<number, Box[]>} */
  const rows = new Map();
  for (const box of boxes) {
    const key = Math.round((box.y + box.h / 2) * 2);
    filed(rows, key, box);
  }
  const sorted = [...rows].sort(([a], [b]) => a - b);
  return sorted.map(([, members]) => {
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
  const mix = (/** @type {number} */ a, /** @type {number} */ b) => a + (b - a) * t;
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
  /** @type {number[]} */
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

// The position of an edge's end on its box, which may have grown.
/** @param {Box} box @param {number} x @param {number} y */
function onBorder(box, x, y) {
  const [cx, cy] = [box.x + box.w / 2, box.y + box.h / 2];
  const [right, down] = [(x - cx) / Math.max(box.w / 2, 1), (y - cy) / Math.max(box.h / 2, 1)];
  const bound = (/** @type {number} */ value) => Math.min(1, Math.max(-1, value));
  return [box.X + box.W / 2 + (bound(right) * box.W) / 2, box.Y + box.H / 2 + (bound(down) * box.H) / 2];
}

/** @param {{ across: Growth[], left: number }} row @param {number} x */
function across(row, x) {
  return stretch(row.across, x) - row.left;
}

// Place the boxes of one part (each with its laid-out x, y, w, h and its true W, H) and bend its curves around them.
/** @param {Box[]} boxes @param {Curve[]} curves */
export function warp(boxes, curves) {
  const rows = rowsOf(boxes);
  const bands = rows.filter((row) => row.by > 0 || row.grown.length);
  const down = bands.map(({ from, to, by }) => ({ from, to, by }));
  for (const row of rows) {
    const middle = stretch(down, row.middle);
    for (const box of row.members) {
      box.X = across(row, box.x + box.w / 2) - box.W / 2;
      box.Y = middle - box.H / 2;
    }
  }
  /** @type {Map<Box, { from: number, to: number }>} */
  const rowOf = new Map(rows.flatMap((row) => row.members.map((box) => [box, row])));
  return curves.map(({ points, source, target }) => {
    let knots = points;
    for (const band of bands) knots = knotAt(knotAt(knots, band.from), band.to);
    return atRows(
      moveKnots(knots, (x, y, end) => {
        if (end >= 0) return onBorder(end ? target : source, x, y);
        const row = bands.find((band) => y >= band.from - 0.5 && y <= band.to + 0.5);
        return [row ? across(row, x) : x, stretch(down, y)];
      }),
      stretch(down, rowOf.get(source)?.to ?? 0),
      stretch(down, rowOf.get(target)?.from ?? 0),
    );
  });
}

// A curve that leaves its first row, and enters its last one, straight: beside it, boxes may be higher than its own.
/** @param {number[]} points @param {number} foot @param {number} head */
function atRows(points, foot, head) {
  const out = [...points];
  const last = out.length - 2;
  const [x, y, toX, toY] = [out[0], out[1], out[last], out[last + 1]];
  const before = head < toY - 1 && head > y;
  const after = foot > y + 1 && foot < toY;
  if (before) {
    [out[last - 2], out[last - 1], out[last + 1]] = [toX, head - LEAD, head];
    out.push(toX, head + (toY - head) / 3, toX, toY - (toY - head) / 3, toX, toY);
  }
  if (after) {
    [out[1], out[2], out[3]] = [foot, x, foot + LEAD];
    out.unshift(x, y, x, y + (foot - y) / 3, x, foot - (foot - y) / 3);
  }
  return out;
}
