// Names of groups at the size of the screen, as on a map, where the picture's own text is too small to read: the number
// of a kernel, its most important figure and its name, as far as there is room. Layers come first, then the launches
// that take most time; where two signs would overlap, the later one moves down, or keeps its number alone.
import { isPresenting } from "../../../js/room.js";
import { arrange, make } from "../dom.js";
import { TEXT_FROM } from "./camera.js";
import { isHull } from "./compose.js";
import { isStretched, overlap } from "./grid.js";
import { shareOf } from "./scene.js";
import { badgeWidth, CHAR, signOf } from "./sign.js";
/** @import { Film } from "../film.js" */
/** @import { Camera } from "./camera.js" */
/** @import { PlacedGroup, Sign } from "./sign.js" */
/** @import { Stage } from "./stage.js" */
/** @import { Picture, Placed, Rect, TieElement } from "../types.d.ts" */

const FROM = 0.85;
const MOST = 120;
const AROUND = 0.3;
const STALE = 0.01;
const SIZE = 11;
const PRESENTED = 14;
const LEAST_DOWN = 3;
const MOST_DOWN = 48;

/** @typedef {Sign & { g?: SVGGElement }} Made */

export class Signs {
  /** @type {PlacedGroup[]} */
  groups = [];
  /** @type {{ k: number, rect: Rect } | null} */
  at = null;
  /** The drawn signs. @type {{ placed: PlacedGroup, spot: Rect }[]} */
  posts = [];
  eager = false;
  fusing = false;
  /** The signs of groups at one scale and size, with all that fits and with less. @type {Map<PlacedGroup, Made[]>} */
  made = new Map();
  madeFor = "";
  // The scale that lines of the screen's width are drawn for.
  pixel = 0;

  /** @param {Stage} stage @param {Camera} camera @param {Film} film @param {HTMLElement} root */
  constructor(stage, camera, film, root) {
    this.stage = stage;
    this.camera = camera;
    this.film = film;
    this.root = root;
  }

  // Another picture; the outer layers first, then launches by their time, and the larger ones of each kind.
  /** @param {Picture} picture */
  over(picture) {
    const rank = (/** @type {PlacedGroup} */ { item, depth }) => isHull(item) ? 1000 - shareOf(item) : depth;
    this.groups = picture.items.filter(isGroup).sort((a, b) => rank(a) - rank(b) || b.w * b.h - a.w * a.h);
    this.made.clear();
    this.clear();
  }

  clear() {
    this.at = null;
    this.posts = [];
    this.stage.signs.replaceChildren();
  }

  // Another step of the film: drawn anew only if groups come or go.
  step() {
    const { eager, fusing } = this.film;
    if (this.eager !== eager || this.fusing !== fusing || this.groups.some(({ item }) => item.f?.length)) this.clear();
    this.follow();
  }

  // While the camera moves, signs are scaled with the drawing; at rest they have the size of the screen again.
  follow() {
    const { k } = this.camera;
    this.tie();
    const on = k < FROM;
    this.root.classList.toggle("small", on);
    const [left, top, right, bottom] = this.camera.rect();
    const at = this.at?.rect;
    const scale = k / (this.at?.k ?? 0);
    const stale = !at || left < at[0] || top < at[1] || right > at[2] || bottom > at[3] ||
      (this.camera.moving ? isStretched(scale) : Math.abs(scale - 1) > STALE);
    if (!on) return void (this.at && this.clear());
    if (stale) this.draw(this.camera.rect(AROUND), k);
    else if (!this.camera.moving) { for (const sign of this.stage.signs.children) rescale(sign, k); }
  }

  // The words are on the line between two launches.
  tie() {
    const { k } = this.camera;
    if (this.pixel !== k) {
      for (const layer of [this.stage.ties, this.stage.rings]) layer.style.setProperty("--px", `${1 / k}px`);
    }
    this.pixel = k;
    for (const label of /** @type {Iterable<TieElement>} */ (this.stage.ties.querySelectorAll("g"))) {
      const [x, y] = this.spotOn(label, k);
      label.setAttribute("transform", `translate(${x} ${y}) scale(${1 / k})`);
    }
  }

  // The place on the line where the words cover no op; the middle if there is none.
  /** @param {TieElement} label @param {number} k */
  spotOn({ spots, wide, high }, k) {
    const [dx, dy] = [wide / 2 / k, high / 2 / k];
    const covered = (/** @type {number[]} */ [x, y]) =>
      [...this.stage.grid.find([x - dx, y - dy, x + dx, y + dy])].some(({ open, box }) =>
        !open && overlap(box, [x - dx, y - dy, x + dx, y + dy])
      );
    return spots.find((spot) => !covered(spot)) ?? spots[0];
  }

  // The group whose sign stands at a point of the picture.
  /** @param {number} x @param {number} y */
  groupAt(x, y) {
    return this.posts.find(({ spot }) => overlap(spot, [x, y, x, y]))?.placed;
  }

  /** @param {Rect} rect @param {number} k */
  draw(rect, k) {
    this.at = { k, rect };
    this.posts = [];
    this.fusing = this.film.fusing;
    const size = isPresenting() ? PRESENTED : SIZE;
    this.eager = this.film.eager;
    const madeFor = `${k} ${size} ${this.eager} ${this.fusing}`;
    if (this.madeFor !== madeFor) this.made.clear();
    this.madeFor = madeFor;
    const shown = [];
    for (const placed of this.groups) {
      if (shown.length === MOST) break;
      const { box, item } = placed;
      if (!overlap(box, rect) || !this.stage.visible(item) || (this.fusing && placed.open && isHull(item))) {
        continue;
      }
      const post = this.postOf(placed, k, size);
      if (!post) continue;
      this.posts.push({ placed, spot: post.spot });
      post.made.g ??= signPost(post.made, k < TEXT_FROM && placed.open);
      post.made.g.setAttribute("data-at", `translate(${post.spot[0]} ${post.spot[1]})`);
      rescale(post.made.g, k);
      shown.push(post.made.g);
    }
    arrange(this.stage.signs, shown);
  }

  // The sign of a group, and its free place: at the top, below a sign that stands there, or at a lower corner. A sign
  // that has no place is left out but for its number.
  /** @param {PlacedGroup} placed @param {number} k @param {number} size */
  postOf(placed, k, size) {
    const all = this.made.get(placed) ?? this.madeOf(placed, k, size);
    this.made.set(placed, all);
    for (const made of all) {
      const spot = this.spotOf(placed, made, k);
      if (spot) return { made, spot };
    }
    return null;
  }

  /** @param {PlacedGroup} placed @param {number} k @param {number} size @returns {Made[]} */
  madeOf(placed, k, size) {
    const sign = signOf(placed, k, size, this.film);
    if (!sign) return [];
    const width = sign.badge ? badgeWidth(sign.badge, size) : 0;
    return sign.badge && sign.width > width ? [sign, { ...sign, lines: [[]], width, height: size + 4 }] : [sign];
  }

  // A layer's name moves by a line at most, a launch's by a few.
  /** @param {PlacedGroup} placed @param {Made} made @param {number} k @returns {Rect | null} */
  spotOf({ item, x, y, w, h, open }, { width, height }, k) {
    const [wide, high, aside] = [width / k, height / k, (open ? 4 : 6) / k];
    const left = x + aside;
    const most = open && !isHull(item) ? height + LEAST_DOWN : MOST_DOWN;
    // From afar, a sign is as high as the header that it stands for.
    const down = (open && k < TEXT_FROM ? 0 : open ? 3 : 2) / k;
    let top = y + down;
    const at = (/** @type {number} */ left, /** @type {number} */ top) => [left, top, left + wide, top + high];
    const taken = (/** @type {Rect} */ spot) => this.posts.find((old) => overlap(spot, old.spot))?.spot;
    for (let other = taken(at(left, top)); other; other = taken(at(left, top))) {
      top = other[3] + 1 / k;
      if (top + high > y + h || top > y + most / k) break;
    }
    const corner = Math.max(left, x + w - wide - aside);
    const spots = [at(left, top), at(corner, y + down), at(left, y + h - high - 3 / k)];
    return spots.find((spot) => spot[1] <= y + most / k && spot[3] <= y + h && !taken(spot)) ?? null;
  }
}

// A sign has the size of the screen.
/** @param {Element} sign @param {number} k */
function rescale(sign, k) {
  const transform = `${sign.getAttribute("data-at")} scale(${1 / k})`;
  if (sign.getAttribute("transform") !== transform) sign.setAttribute("transform", transform);
}

/** @param {Made} made @param {boolean} plated */
function signPost({ badge, lines, size, width, height }, plated) {
  const g = make("g", { class: "sign-post" });
  g.style.fontSize = `${size}px`;
  // From afar, a sign is larger than the header that it stands for.
  if (plated) make("rect", { class: "plate", x: -2, y: -1, width: width + 4, height: height + 2, rx: 3 }, g);
  let indent = 0;
  if (badge) {
    indent = badgeWidth(badge, size) + 4;
    const number = make("g", { class: "number" }, g);
    make("rect", { width: indent - 4, height: size + 4, rx: (size + 4) / 2 }, number);
    make("text", { x: (indent - 4) / 2, y: size, "text-anchor": "middle" }, number, badge);
  }
  for (const [row, parts] of lines.entries()) {
    let left = row ? 0 : indent;
    for (const [name, text] of parts) {
      make("text", { class: name, x: left, y: size + row * (size + 3) }, g, text);
      left += (text.length + 1) * size * CHAR;
    }
  }
  return g;
}

/** @param {Placed} placed @returns {placed is PlacedGroup} */
function isGroup(placed) {
  return placed.item.g !== undefined;
}
