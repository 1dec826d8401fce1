// From far away the picture is a bitmap: boxes and lines by colour, panned as one surface and painted anew when it
// no longer covers the view.
import { drawingOn, filed, make } from "../dom.js";
import { paintGroups } from "../hulls.js";
import { glyphOf } from "../icons.js";
import { isHull } from "./compose.js";
import { paintLines } from "./far_lines.js";
import { isStretched } from "./grid.js";
import { mixOf, shareOf } from "./scene.js";
/** @import { Paints, Picture, Placed, Rect, Spot } from "../types.d.ts" */
/** @import { Camera } from "./camera.js" */
/** @import { Film } from "../film.js" */
/** @import { Stage } from "./stage.js" */

const COVER = 0.3;
const SHARPEST = 2;
// Names of ops: their sizes on screen, the height of a box that has room for one, the fewest letters of a name that is
// cut, and how many there are at most.
const NAME = 9;
const NAMES = [11, 10, NAME];
const LEAST_LETTERS = 4;
const NAME_CHAR = 0.61;
const NAMED = 9;
const LEAST_CALL = 30;
const MOST_NAMES = 800;
const FADED = 0.6;

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
  const calls = paintGroups(context, boxes, film, k, paints);
  paintLines(context, stage, rect, k, paints, film);
  paintBoxes(context, boxes, k, paints);
  paintCopies(context, boxes, k, paints);
  paintNames(context, boxes, k, paints, film);
  if (NAMED <= LEAST_CALL * k) paintCalls(context, calls, k, paints, stage);
  const hits = stage.marks.get("hit");
  if (hits?.size) paintHits(context, boxes.filter(({ item }) => hits.has(item.id)), rect, k, paints, film);
  return items.length;
}

// While searching, all but the matches fade.
/**
 * @param {CanvasRenderingContext2D} context
 * @param {Placed[]} hits
 * @param {Rect} rect
 * @param {number} k
 * @param {Paints} paints
 * @param {Film} film
 */
function paintHits(context, hits, [left, top, right, bottom], k, paints, film) {
  context.globalAlpha = FADED;
  context.fillStyle = paints.bg;
  context.fillRect(left, top, right - left, bottom - top);
  context.globalAlpha = 1;
  paintBoxes(context, hits, k, paints);
  paintCopies(context, hits, k, paints);
  paintNames(context, hits, k, paints, film);
}

/** @param {CanvasRenderingContext2D} context @param {Placed[]} open @param {number} k @param {Paints} paints */
function paintFrames(context, open, k, { ink, bg }) {
  context.strokeStyle = ink;
  for (const { item, x, y, w, h } of open) {
    const hull = isHull(item);
    context.fillStyle = hull ? bg : ink;
    context.setLineDash(item.kind === "library" ? [6 / k, 3 / k] : []);
    context.beginPath();
    context.roundRect(x, y, w, h, (hull ? 5 : 3) / k);
    context.globalAlpha = hull ? 1 : 0.035;
    context.fill();
    context.globalAlpha = hull ? 0.62 : 0.25;
    context.lineWidth = (hull ? 1.4 : 1) / k;
    context.stroke();
    context.globalAlpha = 1;
    const share = shareOf(item);
    if (!share) continue;
    context.fillStyle = ink;
    context.fillRect(x + 4 / k, y - 1.5 / k, (w - 8 / k) * share, 3 / k);
  }
  context.setLineDash([]);
  context.globalAlpha = 1;
}

// A box that is large enough is drawn as nearby, tinted and with a stripe; a smaller one is a patch of its colour.
/** @param {CanvasRenderingContext2D} context @param {Placed[]} boxes @param {number} k @param {Paints} paints */
function paintBoxes(context, boxes, k, { colourOf, bg, classes, byClass }) {
  /** @type {Map<string, Placed[]>} */
  const byColour = new Map();
  for (const placed of boxes) if (!placed.item.thin) filed(byColour, colourOf(placed.item), placed);
  for (const [colour, members] of byColour) {
    context.beginPath();
    for (const { x, y, w, h } of members) context.rect(x, y, Math.max(w, 1 / k), Math.max(h, 1 / k));
    context.fillStyle = bg;
    context.fill();
    context.fillStyle = context.strokeStyle = colour;
    for (const [large, alpha] of /** @type {[boolean, number][]} */ ([[false, 0.6], [true, 0.25]])) {
      context.beginPath();
      for (const { x, y, w, h } of members) {
        if (h * k >= NAMED === large) context.rect(x, y, Math.max(w, 1 / k), Math.max(h, 1 / k));
      }
      context.globalAlpha = alpha;
      context.fill();
      if (!large) continue;
      context.globalAlpha = 0.7;
      context.lineWidth = 1 / k;
      context.stroke();
    }
    context.globalAlpha = 1;
    for (const { item, x, y, h } of members) {
      if (h * k < NAMED) continue;
      if (!byClass || item.g === undefined) context.fillRect(x, y, 3 / k, h);
      else {for (const [cls, from, to] of mixOf(item)) {
          context.fillStyle = classes.get(cls) ?? colour;
          context.fillRect(x, y + from * h, 3 / k, (to - from) * h);
        }}
    }
  }
}

// Copies of ops have no fill, and a dotted outline.
/** @param {CanvasRenderingContext2D} context @param {Placed[]} boxes @param {number} k @param {Paints} paints */
function paintCopies(context, boxes, k, { colourOf, bg }) {
  context.setLineDash([2 / k, 2 / k]);
  context.fillStyle = bg;
  context.lineWidth = 1 / k;
  for (const { item, x, y, w, h } of boxes) {
    if (!item.thin) continue;
    context.fillRect(x, y, w, h);
    context.strokeStyle = colourOf(item);
    context.strokeRect(x, y, w, h);
  }
  context.setLineDash([]);
}

// Names of ops, or their beginnings; the sign of its class in a box without room for either. Groups have signs.
/**
 * @param {CanvasRenderingContext2D} context
 * @param {Placed[]} boxes
 * @param {number} k
 * @param {Paints} paints
 * @param {Film} film
 */
function paintNames(context, boxes, k, { ink, code, byClass }, film) {
  context.fillStyle = ink;
  context.textBaseline = "middle";
  let [room, set] = [MOST_NAMES, 0];
  for (const { item, x, y, w, h } of boxes) {
    if (item.g !== undefined || h * k < NAMED || !room) continue;
    const label = film.versionOf(item)?.[1] ?? item.label;
    room -= 1;
    const lettersOf = (/** @type {number} */ size) => Math.floor((w * k - 8) / size / NAME_CHAR);
    const size = NAMES.find((size) => size + 3 <= h * k && label.length <= lettersOf(size)) ?? NAME;
    const most = lettersOf(size);
    if (size !== set) context.font = `500 ${size / k}px ${code}`;
    set = size;
    const text = label.length <= most ? label : `${label.slice(0, most - 1)}…`;
    if (text.length <= most && most >= Math.min(LEAST_LETTERS, label.length)) {
      context.fillText(text, x + 6 / k, y + h / 2);
    } else if (byClass) paintGlyph(context, glyphOf(item.cls), x + w / 2, y + h / 2, k, ink);
  }
}

// Names of eager's calls, above their first ops or beside them, where no box is.
/**
 * @param {CanvasRenderingContext2D} context
 * @param {[string, { x: number, y: number, w: number, h: number }][]} calls
 * @param {number} k
 * @param {Paints} paints
 * @param {Stage} stage
 */
function paintCalls(context, calls, k, { ink, bg, code }, stage) {
  context.font = `500 ${NAME / k}px ${code}`;
  context.lineWidth = 3 / k;
  context.lineJoin = "round";
  context.strokeStyle = bg;
  context.fillStyle = ink;
  const [high, out] = [NAME / k, 5 / k];
  for (const [name, { x, y, w, h }] of calls) {
    const wide = name.length * NAME * NAME_CHAR / k;
    const spots = [[x - out, y - out - high], [x + w + out, y + (h - high) / 2], [x - out - wide, y + (h - high) / 2]];
    const isFree = (/** @type {number[]} */ [left, top]) =>
      ![...stage.grid.find([left, top, left + wide, top + high])].some(({ open }) => !open);
    const spot = spots.find(isFree);
    if (!spot) continue;
    context.strokeText(name, spot[0], spot[1] + high / 2);
    context.fillText(name, spot[0], spot[1] + high / 2);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} d
 * @param {number} x
 * @param {number} y
 * @param {number} k
 * @param {string} ink
 */
function paintGlyph(context, d, x, y, k, ink) {
  context.save();
  context.translate(x, y);
  context.scale(1 / k, 1 / k);
  context.strokeStyle = ink;
  context.lineWidth = 1.2;
  context.stroke(new Path2D(d));
  context.restore();
}
