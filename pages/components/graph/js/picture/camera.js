// The camera: the position of the picture in its viewport; one style change per frame, on a div around the SVG.
import { calm, nearest } from "../dom.js";
import { boundsOf, isStretched, overlap } from "./grid.js";
import { LARGEST, MARGIN, openingOf, scaleOfWhole } from "./opening.js";
/** @import { Picture, Placed, Rect, Spot } from "../types.d.ts" */

const CLOSEST = 3;
const AROUND = 40;
const LEAST_WHOLE = 0.6;
// A picture that was seen whole, nearly as large as the view, stays so.
const ABOUT_WHOLE = 0.9;
export const TEXT_FROM = 0.6;
export const OVERSCAN = 0.3;
export const SLACK = 0.05;

export class Camera {
  x = 0;
  y = 0;
  k = 1;
  frame = 0;
  moved = false;
  gliding = false;
  moving = false;
  // The scale that the drawing is painted for.
  at = 1;
  /** @type {"view" | "user" | "other"} */
  by = "view";
  width = 0;
  // The width that the small map takes at the view's right, and the width it would take for a part of a picture.
  aside = 0;
  /** @type {(picture: Picture, seen: number) => number} */
  asideFor = () => 0;
  picture = { width: 0, height: 0 };
  // The viewport's size: reading it from the document after a change makes the browser lay out at once.
  size = { width: 0, height: 0 };

  /** @param {HTMLElement} viewport @param {HTMLElement} stage @param {() => void} onMove */
  constructor(viewport, stage, onMove) {
    this.viewport = viewport;
    this.stage = stage;
    this.onMove = onMove;
  }

  measure() {
    this.size = { width: this.viewport.clientWidth, height: this.viewport.clientHeight };
    return this.size;
  }

  get far() {
    return this.k < TEXT_FROM;
  }

  // The part of the picture in view, with a margin as a fraction of the view.
  /** @param {number} [margin] */
  rect(margin = 0) {
    const { width: w, height: h } = this.size;
    const [mx, my] = [w * margin, h * margin];
    return [(-this.x - mx) / this.k, (-this.y - my) / this.k, (w - this.x + mx) / this.k, (h - this.y + my) / this.k];
  }

  get seesAll() {
    const [left, top, right, bottom] = this.rect();
    const { width, height } = this.picture;
    return left <= 0 && top <= 0 && right >= width && bottom >= height &&
      this.k >= ABOUT_WHOLE * Math.min(LARGEST, scaleOfWhole(this.picture, this.size));
  }

  centre() {
    const [left, top, right, bottom] = this.rect();
    return [(left + right) / 2, (top + bottom) / 2];
  }

  // The view has another size: a picture that was seen whole is seen whole, else the middle shows the same point.
  resized() {
    const whole = this.seesAll;
    const { width } = this.measure();
    if (whole) return this.fit(undefined, LARGEST);
    if (this.width) this.x += (width - this.width) / 2;
    this.width = width;
    this.apply();
  }

  // A box that has become wider than the view is read from its left edge; one that has become narrow stays in sight.
  /** @param {Placed} box */
  keepAcross({ x, w }) {
    const width = this.measure().width - this.aside;
    const [left, right] = [this.x + x * this.k, this.x + (x + w) * this.k];
    if (w * this.k > width) this.x = MARGIN - x * this.k;
    else if (left < 0 || right > width) this.x = (width - w * this.k) / 2 - x * this.k;
  }

  // The camera position that puts a point of the picture into the middle.
  /** @param {{ k: number, x: number, y: number } | null} at */
  standing(at) {
    if (!at) return undefined;
    const k = Math.min(CLOSEST, at.k);
    const { width, height } = this.size;
    this.width = width;
    return { k, x: width / 2 - at.x * k, y: height / 2 - at.y * k };
  }

  // Show what was last in view; if no box is there, or nothing is known of it, the picture as at first.
  /** @param {Picture} picture @param {Spot} [spot] */
  stand(picture, spot) {
    Object.assign(this, spot, { moved: true, by: "view" });
    this.measure();
    if (spot && this.sees(picture)) this.apply();
    else this.show(picture);
  }

  /** @param {Picture} picture */
  sees(picture) {
    const rect = this.rect();
    return picture.items.some(({ open, box }) => !open && overlap(box, rect));
  }

  // Open at the top, readable: centre the first screen, and shrink it a little if it fits whole then.
  /** @param {Picture} picture */
  show(picture) {
    this.picture = picture;
    this.moved = false;
    this.by = "view";
    const { width, height } = this.measure();
    this.width = width;
    Object.assign(this, openingOf(picture, { width, height }));
    const seen = Math.min(1, width / this.k / picture.width) * Math.min(1, height / this.k / picture.height);
    this.aside = this.asideFor(picture, seen);
    const { k } = this;
    if (this.aside) Object.assign(this, openingOf(picture, { width: width - this.aside, height }));
    // The small map's margin does not crop a picture that fits without it.
    if (this.k > k) Object.assign(this, openingOf(picture, { width, height }));
    const first = this.sees(picture) ? undefined : nearest(picture.items, ({ open, y }) => (open ? Infinity : y));
    // The first box of a wide group may be far from the group's left edge.
    if (first) this.x = (width - this.aside) / 2 - (first.x + first.w / 2) * this.k;
    this.apply();
  }

  // The whole picture, or a part of it.
  /** @param {number[]} [part] @param {number} [most] */
  fit([left, top, right, bottom] = [0, 0, this.picture.width, this.picture.height], most = 1.2) {
    const [width, height] = [this.size.width - this.aside, this.size.height];
    const k = Math.min(
      most,
      Math.max(1, width - 2 * MARGIN) / (right - left || 1),
      Math.max(1, height - 2 * MARGIN) / (bottom - top || 1),
    );
    this.glide((width - (left + right) * k) / 2, (height - (top + bottom) * k) / 2, k);
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.touched();
  }

  /** @param {number} factor @param {number} [atX] @param {number} [atY] */
  zoom(factor, atX = this.size.width / 2, atY = this.size.height / 2) {
    const { width, height } = this.size;
    const whole = Math.min(width / (this.picture.width || 1), height / (this.picture.height || 1));
    const k = Math.min(CLOSEST, Math.max(Math.min(0.1, whole * 0.8), this.k * factor));
    this.x = atX - (atX - this.x) * (k / this.k);
    this.y = atY - (atY - this.y) * (k / this.k);
    this.k = k;
    this.touched();
  }

  // From the second frame of a move on, the drawing is a layer, which is moved and scaled as it is painted. A browser
  // lays out all texts anew for another scale, but not for another distance: a layer is scaled by the matrix' last
  // element. At rest it is painted for its scale; texts have the same places at each (geometricPrecision).
  /** @param {boolean} [resting] */
  draw(resting) {
    const moves = !resting && this.by === "user" && !this.gliding;
    const layered = moves && this.moving && !isStretched(this.k / this.at);
    const { style } = this.stage;
    if (!layered || !style.willChange) this.at = this.k;
    style.willChange = layered ? "transform" : "";
    this.moving = moves;
    const { x, y, k, at } = this;
    const away = at / k;
    style.transform = away === 1
      ? `translate(${x}px, ${y}px) scale(${k})`
      : `matrix3d(${[at, 0, 0, 0, 0, at, 0, 0, 0, 0, 1, 0, x * away, y * away, 0, away]})`;
  }

  touched() {
    this.moved = true;
    this.by = "user";
    this.apply();
  }

  // Move a point of the picture to a point of the viewport, on another view's request: not sent to others again.
  /**
   * @param {number} x
   * @param {number} y
   * @param {number} atX
   * @param {number} atY
   * @param {number} k
   * @param {boolean} gliding
   */
  place(x, y, atX, atY, k, gliding) {
    this.glide(atX - x * k, atY - y * k, k, !gliding);
    this.by = "other";
  }

  // Bring a rectangle of the picture into view: only as far as needed, or to the middle; whole if readable.
  /**
   * @param {{ x: number, y: number, w: number, h: number }} item
   * @param {boolean} [toMiddle]
   * @param {boolean} [atOnce]
   * @param {boolean} [low]
   */
  reveal(item, toMiddle, atOnce, low) {
    const [width, height] = [this.size.width - this.aside, this.size.height];
    const near = Math.max(this.k, toMiddle ? 0.8 : 0.5);
    const whole = Math.min((width - 2 * AROUND) / item.w, (height - 2 * AROUND) / item.h);
    const k = whole < LEAST_WHOLE ? near : Math.min(near, whole);
    const [w, h] = [Math.min(item.w, (width - 2 * AROUND) / k), Math.min(item.h, (height - 2 * AROUND) / k)];
    const [x, y] = [this.x + item.x * this.k, this.y + item.y * this.k];
    const inside = y >= (low ? 240 : 8) && y + h * this.k <= height - 8;
    if (k === this.k && inside && x >= 8 && x + w * this.k <= width - 8) return;
    const [at, half] = [height * (low ? 0.7 : toMiddle ? 0.45 : 0.4), AROUND + h * k / 2];
    const top = Math.min(height - half, Math.max(half, at)) - h * k / 2;
    this.glide(width / 2 - (item.x + w / 2) * k, top - item.y * k, k, atOnce);
  }

  // Pan as little as needed to show all these boxes; if they need more room than the view has, zoom out for them if
  // they have to be seen together, else show the first.
  /** @param {Placed[]} boxes @param {boolean} [together] */
  panTo(boxes, together) {
    const [width, height] = [this.size.width - this.aside, this.size.height];
    const shift = (/** @type {Rect} */ [left, top, right, bottom]) => {
      const along = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ most) =>
        from < 0 ? AROUND - from : to > most ? most - AROUND - to : 0;
      return [
        along(this.x + left * this.k, this.x + right * this.k, width),
        along(this.y + top * this.k, this.y + bottom * this.k, height),
      ];
    };
    const all = boundsOf(boxes);
    const fits = (all[2] - all[0]) * this.k < width - 2 * AROUND && (all[3] - all[1]) * this.k < height - 2 * AROUND;
    if (together && (!fits || this.k < LEAST_WHOLE)) return this.fit(all);
    const [dx, dy] = shift(fits ? all : boxes[0].box);
    if (dx || dy) this.glide(this.x + dx, this.y + dy, this.k);
  }

  /** @param {number} x @param {number} y @param {number} k @param {boolean} [atOnce] */
  glide(x, y, k, atOnce) {
    const gliding = !atOnce && !calm();
    for (const element of this.viewport.children) element.classList.toggle("glide", gliding);
    Object.assign(this, { x, y, k, moved: true, by: "user" });
    this.apply(gliding);
  }

  /** @param {boolean} [gliding] */
  apply(gliding) {
    if (!gliding) { for (const element of this.viewport.children) element.classList.remove("glide"); }
    this.gliding = Boolean(gliding);
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
      this.onMove();
    });
  }
}
