// The whole picture in the lower right corner, with a frame around what is in view; shown when most of the picture is
// out of view. At first no box is under the map, and it yields to a selection that is under it. The frame is painted: a
// box of another size would make the browser lay out the texts of the drawing, too.
import { drawingOn, make, remember, remembered } from "../dom.js";
/** @import { Paints, Picture, Placed } from "../types.d.ts" */
/** @import { Camera } from "./camera.js" */
/** @import { Stage } from "./stage.js" */

const MAP_WIDTH = 120;
const MAP_SHARE = 0.12;
const LEAST_ROOM = 480;
const AROUND = 8;
const MOST_SEEN = 0.6;
const MOST_HIGH = 0.5;

export class Minimap {
  /** @type {{ picture: Picture, paints: Paints } | null} */
  shown = null;
  stale = true;
  drawn = "";
  k = 1;
  left = 0;
  top = 0;

  /** @param {HTMLElement} parent @param {Camera} camera @param {Stage} stage */
  constructor(parent, camera, stage) {
    this.camera = camera;
    this.stage = stage;
    this.root = make("div", { class: "margin", hidden: "" }, parent);
    this.map = make("div", { class: "minimap", role: "img", "aria-label": "The whole graph, small" }, this.root);
    this.canvas = make("canvas", {}, this.map);
    this.frame = make("div", { class: "window" }, this.map);
    this.wanted = remembered("minimap") !== false;
    /** @type {() => Placed | null} */
    this.selection = () => null;
    this.map.onpointerdown = (event) => {
      this.map.setPointerCapture(event.pointerId);
      this.move(event);
    };
    this.map.onpointermove = (event) => event.buttons && this.move(event);
  }

  // The map of a picture: its scale, width and height; a minimum keeps a thin map visible.
  /** @param {Picture} picture */
  size({ width, height }) {
    const { size } = this.camera;
    const wide = Math.min(MAP_WIDTH, MAP_SHARE * size.width);
    const k = Math.min(wide / (width || 1), MOST_HIGH * size.height / (height || 1));
    return [k, Math.max(24, width * k), Math.max(12, height * k)];
  }

  // The part of the view's width that the map takes while so much of a picture is in view.
  /** @param {Picture} picture @param {number} seen */
  room(picture, seen) {
    const roomy = this.camera.size.width > LEAST_ROOM;
    if (!this.wanted || seen > MOST_SEEN || !roomy || picture.width === 0) return 0;
    return Math.ceil(this.size(picture)[1]) + 2 * AROUND;
  }

  toggle() {
    this.wanted = !this.wanted;
    remember("minimap", this.wanted);
    this.follow();
  }

  /** @param {Picture} picture @param {Paints} paints */
  paint(picture, paints) {
    this.shown = { picture, paints };
    this.stale = true;
    this.follow();
  }

  /** @param {Picture} picture @param {Paints} paints */
  draw(picture, paints) {
    this.stale = false;
    const { width, height } = picture;
    const [k, w, h] = this.size(picture);
    this.k = k;
    const sharp = Math.min(2, devicePixelRatio || 1);
    [this.canvas.width, this.canvas.height] = [Math.ceil(w * sharp), Math.ceil(h * sharp)];
    [this.map.style.width, this.map.style.height] = [`${w}px`, `${h}px`];
    this.left = (w - width * this.k) / 2;
    this.top = (h - height * this.k) / 2;
    const context = drawingOn(this.canvas);
    context.scale(sharp, sharp);
    for (const { item, open, x, y, w: wide, h: high } of picture.items) {
      if (!this.stage.visible(item)) continue;
      context.globalAlpha = open ? 0.06 : 0.75;
      context.fillStyle = open ? paints.ink : paints.colourOf(item);
      context.fillRect(
        this.left + x * this.k,
        this.top + y * this.k,
        Math.max(1, wide * this.k),
        Math.max(0.8, high * this.k),
      );
    }
  }

  follow() {
    if (!this.shown) return;
    const { picture, paints } = this.shown;
    const [left, top, right, bottom] = this.camera.rect();
    const { width, height } = picture;
    const [x0, y0] = [Math.max(0, left), Math.max(0, top)];
    const [x1, y1] = [Math.min(width, right), Math.min(height, bottom)];
    const seen = (Math.max(0, x1 - x0) * Math.max(0, y1 - y0)) / (width * height || 1);
    const room = this.room(picture, seen);
    this.camera.aside = room;
    const high = Math.ceil(this.size(picture)[2]) + 2 * AROUND;
    this.root.hidden = !room || this.isOver(this.selection(), room, high);
    if (this.root.hidden) return;
    const view = this.camera.size;
    [this.root.style.width, this.root.style.height] = [`${room}px`, `${high}px`];
    const size = `${view.width} ${view.height}`;
    if (this.stale || this.drawn !== size) this.draw(picture, paints);
    this.drawn = size;
    const sides = {
      x: this.left + x0 * this.k,
      y: this.top + y0 * this.k,
      w: Math.max(4, (x1 - x0) * this.k),
      h: Math.max(4, (y1 - y0) * this.k),
    };
    for (const [name, side] of Object.entries(sides)) this.frame.style.setProperty(`--${name}`, `${side}px`);
  }

  // True if the map hides most of the part of a box that is in view.
  /** @param {Placed | null} placed @param {number} room @param {number} high */
  isOver(placed, room, high) {
    if (!placed) return false;
    const { x, y, k, size: { width, height } } = this.camera;
    const [left, right] = [Math.max(0, x + placed.x * k), Math.min(width, x + (placed.x + placed.w) * k)];
    const inView = left < width && right > 0 && y + placed.y * k < height &&
      y + (placed.y + placed.h) * k > height - high;
    return inView && right - (width - room) > (right - left) / 2;
  }

  /** @param {PointerEvent} event */
  move(event) {
    const box = this.map.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left - this.left) / this.k, (event.clientY - box.top - this.top) / this.k];
    const { camera } = this;
    const middle = (camera.size.width - camera.aside) / 2;
    camera.pan(middle - camera.x - x * camera.k, camera.size.height / 2 - camera.y - y * camera.k);
  }
}
