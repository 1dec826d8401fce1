// Drawing of one edge, and of its pieces inside groups.
import { make } from "../dom.js";
import { isHull } from "./compose.js";
/** @import { Line, Stub } from "../types.d.ts" */

/** @param {number[]} points */
export function drawPath(points) {
  let d = `M${points[0]} ${points[1]}`;
  for (let i = 2; i + 5 < points.length; i += 6) d += `C${points.slice(i, i + 6).join(" ")}`;
  return d;
}

// Edges have a width for each decade of their bytes.
export const WIDTHS = /** @type {[number, number, string][]} */ ([
  [1e7, 8, "≥ 10 MB"],
  [1e6, 6, "1–10 MB"],
  [1e5, 4, "0.1–1 MB"],
  [1e4, 2.5, "10–100 kB"],
  [0, 1.2, "< 10 kB"],
]);

// The decade of an edge's bytes; undefined without a buffer.
/** @param {number} [bytes] */
export function decadeOf(bytes) {
  return bytes ? WIDTHS.find(([least]) => bytes >= least) : undefined;
}

/** @param {number} [bytes] */
export function widthOf(bytes) {
  return decadeOf(bytes)?.[1] ?? 1;
}

// The edge of a curve.
/** @param {Line | Stub} line */
export function edgeOf(line) {
  return line.edge ?? line.of.edge;
}

/** @param {Line | Stub} line */
export function drawCurve(line) {
  return line.edge ? drawEdge(line) : drawStub(line);
}

/** @param {Line} line */
function drawEdge({ edge, points, stubs }) {
  const g = make("g", { class: edge.bytes ? "edge" : "edge unstored" });
  g.classList.toggle("goes-on", stubs.some(({ side }) => side === 1));
  make("path", { class: "line", d: drawPath(points), style: `--wide:${widthOf(edge.bytes)}` }, g);
  make("path", { class: "head", d: arrowHead(points) }, g);
  if (edge.refused) drawBreak(g, points);
  return g;
}

// A refused fusion: a break in the middle of the edge.
/** @param {Element} parent @param {number[]} points */
function drawBreak(parent, points) {
  const [x, y] = middleOf(points);
  make("path", { class: "gap", d: `M${x - 9} ${y}H${x + 9}` }, parent);
  make("path", { class: "break", d: `M${x - 9} ${y - 3}H${x + 9}M${x - 9} ${y + 3}H${x + 9}` }, parent);
}

// The last piece of an edge into a group has its head.
/** @param {Stub} stub */
function drawStub({ points, of, side }) {
  const end = side ? of.t : of.s;
  const g = make("g", { class: `${of.edge.bytes ? "stub" : "stub unstored"}${isHull(end.item) ? " of-hull" : ""}` });
  make("path", { class: "line", d: drawPath(points), style: `--wide:${widthOf(of.edge.bytes)}` }, g);
  if (side) make("path", { class: "head", d: arrowHead(points) }, g);
  return g;
}

/** @param {number[]} p */
function arrowHead(p) {
  const [x, y] = p.slice(-2);
  let back = p.length - 4;
  while (back > 0 && Math.hypot(p[back] - x, p[back + 1] - y) < 0.5) back -= 2;
  const length = Math.hypot(x - p[back], y - p[back + 1]) || 1;
  const [ux, uy] = [(x - p[back]) / length, (y - p[back + 1]) / length];
  const [bx, by] = [x - ux * 6, y - uy * 6];
  return `M${x} ${y}L${bx - uy * 3} ${by + ux * 3}L${bx + uy * 3} ${by - ux * 3}Z`;
}

// The middle of a curve, for its label.
/** @param {number[]} p */
export function middleOf(p) {
  const at = 6 * Math.floor((p.length - 2) / 12);
  if (at + 7 >= p.length) return p.slice(0, 2);
  return [0, 1].map((i) => (p[at + i] + 3 * p[at + 2 + i] + 3 * p[at + 4 + i] + p[at + 6 + i]) / 8);
}

const PARTS = 12;

// The distance of a point to a curve.
/** @param {number[]} p @param {number} x @param {number} y */
export function distanceTo(p, x, y) {
  let least = Infinity;
  let [fromX, fromY] = p;
  for (let at = 0; at + 7 < p.length; at += 6) {
    for (let part = 1; part <= PARTS; part += 1) {
      const [t, u] = [part / PARTS, 1 - part / PARTS];
      const [toX, toY] = [0, 1].map((i) =>
        u ** 3 * p[at + i] + 3 * u * u * t * p[at + 2 + i] + 3 * u * t * t * p[at + 4 + i] + t ** 3 * p[at + 6 + i]
      );
      const [dx, dy] = [toX - fromX, toY - fromY];
      const along = ((x - fromX) * dx + (y - fromY) * dy) / (dx * dx + dy * dy || 1);
      const share = Math.min(1, Math.max(0, along));
      least = Math.min(least, Math.hypot(x - fromX - share * dx, y - fromY - share * dy));
      [fromX, fromY] = [toX, toY];
    }
  }
  return least;
}
