// Edges from far away: with the widths of their bytes, dashed without a buffer, and broken where a fusion was refused.
import { filed } from "../dom.js";
import { edgeOf, middleOf, widthOf } from "./curves.js";
/** @import { Film } from "../film.js" */
/** @import { Line, Paints, Rect, Stub } from "../types.d.ts" */
/** @import { Stage } from "./stage.js" */

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Stage} stage
 * @param {Rect} rect
 * @param {number} k
 * @param {Paints} paints
 * @param {Film} film
 */
export function paintLines(context, stage, rect, k, paints, film) {
  const { line } = paints;
  const launched = film.joining && !film.fusing;
  /** @type {Map<string, (Line | Stub)[]>} */
  const byLook = new Map();
  for (const each of stage.lineGrid.find(rect)) {
    const { box, edge } = each;
    // Pieces of edges inside groups are left out, but for launches that are not drawn yet.
    if (!edge && !film.fusing || !stage.visible(edgeOf(each))) continue;
    if (Math.max(box[2] - box[0], box[3] - box[1]) * k < 2) continue;
    filed(byLook, launched && edge ? `${widthOf(edge.bytes)} ${edge.bytes ? "" : "dashed"}` : "0", each);
  }
  context.strokeStyle = line;
  for (const [look, lines] of byLook) {
    const [width, dashed] = look.split(" ");
    context.beginPath();
    for (const { points: p, box } of lines) {
      context.moveTo(p[0], p[1]);
      if ((box[3] - box[1]) * k < 24) context.lineTo(p[p.length - 2], p[p.length - 1]);
      else {for (let i = 2; i + 5 < p.length; i += 6) {
          context.bezierCurveTo(p[i], p[i + 1], p[i + 2], p[i + 3], p[i + 4], p[i + 5]);
        }}
    }
    context.setLineDash(dashed ? [3 / k, 3 / k] : []);
    context.lineWidth = Math.max(0.7 / k, Number(width));
    context.stroke();
  }
  context.setLineDash([]);
  if (!launched) return;
  for (const { edge, points } of [...byLook.values()].flat()) {
    if (edge?.refused) paintBreak(context, middleOf(points), k, paints);
  }
}

// A refused fusion, as nearby.
/** @param {CanvasRenderingContext2D} context @param {number[]} middle @param {number} k @param {Paints} paints */
function paintBreak(context, [x, y], k, { bg, ink }) {
  for (
    const [colour, width, ups] of /** @type {[string, number, number[]][]} */ ([[bg, 6, [0]], [ink, 1.2, [-3, 3]]])
  ) {
    context.beginPath();
    for (const up of ups) {
      context.moveTo(x - 7 / k, y + up / k);
      context.lineTo(x + 7 / k, y + up / k);
    }
    context.strokeStyle = colour;
    context.lineWidth = width / k;
    context.stroke();
  }
}
