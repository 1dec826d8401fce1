// From far away the picture is a bitmap: boxes and lines by colour, panned as one surface and painted anew when it
// no longer covers the view.
import { drawingOn, filed, make } from "../dom.js";
import { paintGroups } from "../hulls.js";
import { isHull } from "./compose.js";
import { isStretched } from "./grid.js";
/** @import { Paints, Picture, Placed, Rect, Spot } from "../types.d.ts" */
/** @import { Camera } from "./camera.js" */
/** @import { Film } from "../film.js" */
/** @import { Stage } from "./stage.js" */

const COVER = 0.3;
const SHARPEST = 2;

/** @typedef {Spot & { marginX: number, marginY: number, width: number, height: number }} Surface */

export class Far {
  /** @param {HTMLElement} viewport */
  constructor(viewport) {
    this.canvas = make("canvas", { class: "far-surface", "aria-hidden": "true", hidden: "" }, viewport);
    this.context = drawingOn(this.canvas);
    /** @type {Surface | null} */
    this.at = null;
  }

  /** @param {boolean} on */
  show(on) {
    if (this.canvas.hidden === on) this.canvas.hidden = !on;
    if (!on) this.at = null;
  }

  // Move the surface along with the camera; true if it has to be painted again.
  /** @param {Camera} camera @param {Picture} picture */
  follow({ x, y, k, size }, picture) {
    const { at } = this;
    if (!at) return true;
    const s = k / at.k;
    const [left, top] = [x - at.x * s - at.marginX * s, y - at.y * s - at.marginY * s];
    this.canvas.style.transform = `translate(${left}px, ${top}px) scale(${s})`;
    if (isStretched(s)) return true;
    const [seenLeft, seenTop] = [Math.max(0, x), Math.max(0, y)];
    const seenRight = Math.min(size.width, x + picture.width * k);
    const seenBottom = Math.min(size.height, y + picture.height * k);
    const inside = left <= seenLeft + 1 && top <= seenTop + 1 && left + at.width * s >= seenRight - 1 &&
      top + at.height * s >= seenBottom - 1;
    return !inside && seenRight > seenLeft && seenBottom > seenTop;
  }

  /** @param {Stage} stage @param {Camera} camera @param {Paints} paints @param {Film} film */
  paint(stage, camera, paints, film) {
    const { width: w, height: h } = camera.size;
    const [marginX, marginY] = [w * COVER, h * COVER];
    const [width, height] = [w + 2 * marginX, h + 2 * marginY];
    const sharp = Math.min(SHARPEST, devicePixelRatio || 1);
    this.at = { x: camera.x, y: camera.y, k: camera.k, marginX, marginY, width, height };
    const { canvas, context } = this;
    if (canvas.width !== Math.ceil(width * sharp) || canvas.height !== Math.ceil(height * sharp)) {
      [canvas.width, canvas.height] = [Math.ceil(width * sharp), Math.ceil(height * sharp)];
      [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
    }
    canvas.style.transform = `translate(${-marginX}px, ${-marginY}px)`;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(
      sharp * camera.k,
      0,
      0,
      sharp * camera.k,
      sharp * (camera.x + marginX),
      sharp * (camera.y + marginY),
    );
    const rect = [-(camera.x + marginX) / camera.k, -(camera.y + marginY) / camera.k];
    rect.push(rect[0] + width / camera.k, rect[1] + height / camera.k);
    return paintAll(context, stage, rect, camera.k, paints, film);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Stage} stage
 * @param {Rect} rect
 * @param {number} k
 * @param {Paints} paints
 * @param {Film} film
 */
function paintAll(context, stage, rect, k, paints, film) {
  const items = [...stage.grid.find(rect)].filter((placed) => stage.visible(placed.item));
  const open = items.filter(({ open, item }) => open && !(film.fusing && isHull(item)));
  open.sort((a, b) => a.depth - b.depth);
  const boxes = items.filter((placed) => !placed.open);
  paintFrames(context, open, k, paints);
  paintGroups(context, boxes, film, k, paints.line);
  paintLines(context, stage, rect, k, paints);
  paintBoxes(context, boxes, k, paints);
  return items.length;
}

/** @param {CanvasRenderingContext2D} context @param {Placed[]} open @param {number} k @param {Paints} paints */
function paintFrames(context, open, k, { ink }) {
  for (const { x, y, w, h } of open) {
    context.fillStyle = context.strokeStyle = ink;
    context.globalAlpha = 0.035;
    context.fillRect(x, y, w, h);
    context.globalAlpha = 0.3;
    context.lineWidth = 1 / k;
    context.strokeRect(x, y, w, h);
  }
  context.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Stage} stage
 * @param {Rect} rect
 * @param {number} k
 * @param {Paints} paints
 */
function paintLines(context, stage, rect, k, { line }) {
  context.beginPath();
  for (const { points: p, box, edge } of stage.lineGrid.find(rect)) {
    if (!edge || !stage.visible(edge) || Math.max(box[2] - box[0], box[3] - box[1]) * k < 2) continue;
    context.moveTo(p[0], p[1]);
    if ((box[3] - box[1]) * k < 24) context.lineTo(p[p.length - 2], p[p.length - 1]);
    else {for (let i = 2; i + 5 < p.length; i += 6) {
        context.bezierCurveTo(p[i], p[i + 1], p[i + 2], p[i + 3], p[i + 4], p[i + 5]);
      }}
  }
  context.strokeStyle = line;
  context.lineWidth = Math.max(0.7 / k, 1);
  context.stroke();
}

/** @param {CanvasRenderingContext2D} context @param {Placed[]} boxes @param {number} k @param {Paints} paints */
function paintBoxes(context, boxes, k, { colourOf, bg }) {
  /** @type {Map<string, Placed[]>} */
  const byColour = new Map();
  for (const placed of boxes) filed(byColour, colourOf(placed.item), placed);
  for (const [colour, members] of byColour) {
    context.beginPath();
    for (const { x, y, w, h } of members) context.rect(x, y, Math.max(w, 1 / k), Math.max(h, 1 / k));
    context.fillStyle = bg;
    context.fill();
    context.globalAlpha = 0.6;
    context.fillStyle = colour;
    context.fill();
    context.globalAlpha = 1;
  }
}
