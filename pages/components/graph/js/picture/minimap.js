// The whole picture in a corner, with a frame around what is in view; shown when most of the picture is out of view.
import { drawingOn, make, remember, remembered } from "../dom.js";
/** @import { Paints, Picture } from "../types.d.ts" */
/** @import { Camera } from "./camera.js" */
/** @import { Stage } from "./stage.js" */

const MAP_WIDTH = 148;
const MAP_HEIGHT = 132;
const MOST_SEEN = 0.6;

export class Minimap {
  /** @type {{ picture: Picture, paints: Paints } | null} */
  shown = null;
  stale = true;
  k = 1;
  left = 0;
  top = 0;

  /** @param {HTMLElement} parent @param {Camera} camera @param {Stage} stage */
  constructor(parent, camera, stage) {
    this.camera = camera;
    this.stage = stage;
    this.root = make(
      "div",
      { class: "minimap", hidden: "", role: "img", "aria-label": "The whole graph, small" },
      parent,
    );
    this.canvas = make("canvas", {}, this.root);
    this.frame = make("div", { class: "window" }, this.root);
    this.wanted = remembered("minimap") !== false;
    this.root.onpointerdown = (event) => {
      this.root.setPointerCapture(event.pointerId);
      this.move(event);
    };
    this.root.onpointermove = (event) => event.buttons && this.move(event);
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

  // Long pictures are drawn taller than wide; a floor keeps a thin one visible.
  /** @param {Picture} picture @param {Paints} paints */
  draw(picture, paints) {
    this.stale = false;
    const { width, height } = picture;
    this.k = Math.min(MAP_WIDTH / width, MAP_HEIGHT / height);
    const [w, h] = [Math.max(24, width * this.k), Math.max(12, height * this.k)];
    const sharp = Math.min(2, devicePixelRatio || 1);
    [this.canvas.width, this.canvas.height] = [Math.ceil(w * sharp), Math.ceil(h * sharp)];
    [this.root.style.width, this.root.style.height] = [`${w}px`, `${h}px`];
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
    const roomy = this.camera.viewport.clientWidth > 480;
    this.root.hidden = !this.wanted || seen > MOST_SEEN || !roomy || width === 0;
    if (this.root.hidden) return;
    if (this.stale) this.draw(picture, paints);
    this.frame.style.transform = `translate(${this.left + x0 * this.k}px, ${this.top + y0 * this.k}px)`;
    this.frame.style.width = `${Math.max(4, (x1 - x0) * this.k)}px`;
    this.frame.style.height = `${Math.max(4, (y1 - y0) * this.k)}px`;
  }

  /** @param {PointerEvent} event */
  move(event) {
    const box = this.root.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left - this.left) / this.k, (event.clientY - box.top - this.top) / this.k];
    const { camera } = this;
    const { viewport } = camera;
    camera.pan(viewport.clientWidth / 2 - camera.x - x * camera.k, viewport.clientHeight / 2 - camera.y - y * camera.k);
  }
}
