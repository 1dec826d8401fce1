// Names of groups at the size of the screen, as on a map, where the picture's own text is too small to read: the number
// of a kernel, its most important figure and its name, as far as there is room.
import { isPresenting } from "../../../js/room.js";
import { arrange, cutFacts, cutName, make } from "../dom.js";
import { TEXT_FROM } from "./camera.js";
import { headerOf, isHull } from "./compose.js";
import { isStretched, overlap } from "./grid.js";
import { groupLine } from "./scene.js";
/** @import { Film } from "../film.js" */
/** @import { Camera } from "./camera.js" */
/** @import { Stage } from "./stage.js" */
/** @import { GroupItem, Picture, Placed, Rect } from "../types.d.ts" */

const FROM = 0.85;
const MOST = 80;
const AROUND = 0.3;
const STALE = 0.08;
const SIZE = 11;
const PRESENTED = 14;
const CHAR = 0.61;
const LEAST_WIDE = 16;
const LEAST_NAMED = 50;
const LEAST_NAME = 3;
const LEAST_CUT = 8;

/** @typedef {Placed & { item: GroupItem }} PlacedGroup */

export class Signs {
  /** @type {PlacedGroup[]} */
  groups = [];
  /** @type {{ k: number, rect: Rect } | null} */
  at = null;
  /** The drawn signs. @type {{ placed: PlacedGroup, spot: Rect }[]} */
  posts = [];
  eager = false;
  fusing = false;
  /** The signs of groups at one scale and size; null where none fits. @type {Map<PlacedGroup, Made | null>} */
  made = new Map();
  madeFor = "";

  /** @param {Stage} stage @param {Camera} camera @param {Film} film @param {HTMLElement} root */
  constructor(stage, camera, film, root) {
    this.stage = stage;
    this.camera = camera;
    this.film = film;
    this.root = root;
  }

  // Another picture; the outer groups first, and the larger ones of each depth.
  /** @param {Picture} picture */
  over(picture) {
    this.groups = picture.items.filter(isGroup).sort((a, b) => a.depth - b.depth || b.w * b.h - a.w * a.h);
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
    const madeFor = `${k} ${size} ${this.eager}`;
    if (this.madeFor !== madeFor) this.made.clear();
    this.madeFor = madeFor;
    const shown = [];
    for (const placed of this.groups) {
      if (shown.length === MOST) break;
      const { box, item } = placed;
      if (!overlap(box, rect) || !this.stage.visible(item) || (this.fusing && placed.open && isHull(item))) {
        continue;
      }
      const made = this.madeOf(placed, k, size);
      if (!made || this.posts.some((old) => overlap(made.spot, old.spot))) continue;
      this.posts.push({ placed, spot: made.spot });
      made.g ??= signPost(made, k);
      rescale(made.g, k);
      shown.push(made.g);
    }
    arrange(this.stage.signs, shown);
  }

  /** @param {PlacedGroup} placed @param {number} k @param {number} size */
  madeOf(placed, k, size) {
    const known = this.made.get(placed);
    if (known !== undefined) return known;
    const sign = signOf(placed, k, size, this.eager);
    const [x, y] = [placed.x + (placed.open ? 4 : 6) / k, placed.y + 3 / k];
    /** @type {Made | null} */
    const made = sign && { ...sign, spot: [x, y, x + sign.width / k, y + sign.height / k] };
    this.made.set(placed, made);
    return made;
  }
}

// A sign has the size of the screen.
/** @param {Element} sign @param {number} k */
function rescale(sign, k) {
  const transform = `${sign.getAttribute("data-at")} scale(${1 / k})`;
  if (sign.getAttribute("transform") !== transform) sign.setAttribute("transform", transform);
}

/** @param {Made} made @param {number} k */
function signPost({ badge, lines, size, width, height, spot: [x, y] }, k) {
  const g = make("g", { class: "sign-post", "data-at": `translate(${x} ${y})` });
  g.style.fontSize = `${size}px`;
  // From afar, a sign is larger than the header that it stands for.
  if (k < TEXT_FROM) make("rect", { class: "plate", x: -2, y: -1, width: width + 4, height: height + 2, rx: 3 }, g);
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

/** @param {string} badge @param {number} size */
function badgeWidth(badge, size) {
  return Math.max(size + 4, 8 + badge.length * size * CHAR);
}

/** @typedef {{ badge: string, lines: [string, string][][], size: number, width: number, height: number }} Sign */
/** @typedef {Sign & { spot: Rect, g?: SVGGElement }} Made */

// The parts of a sign that fit into a box; null if none does.
/** @param {PlacedGroup} placed @param {number} k @param {number} size @param {boolean} eager @returns {Sign | null} */
function signOf({ item, w, h, open }, k, size, eager) {
  const signs = k < TEXT_FROM ? 0 : (open && !isHull(item) ? 44 : 24) * k;
  const [wide, high, char] = [w * k - 6 - signs, h * k - 4, size * CHAR];
  const badge = item.badge ?? "";
  const hull = isHull(item);
  const indent = badge ? badgeWidth(badge, size) + 4 : 0;
  if (high < size + 4 || wide < (hull ? Math.max(LEAST_WIDE, indent - 4) : LEAST_NAMED)) return null;
  const room = Math.floor((wide - indent) / char);
  const two = (open ? headerOf(item) : h) * k >= 2 * size + 9;
  const figure = figureOf(item, eager);
  /** @type {[string, string][][]} */
  let lines;
  const line = hull || !figure ? groupLine(item) : `${figure} · ${groupLine(item)}`;
  if (two) lines = [[["name", fitted(item.label, room)]], [["what", cutFacts(line, w * k - 8, char)]]];
  else if (!hull || !figure) {
    const both = figure && item.label.length + figure.length + 1 <= room;
    lines = [[["name", fitted(item.label, room)], ...(both ? [twain("what", figure)] : [])]];
  } else {
    const shown = room >= figure.length ? [twain("name", figure)] : [];
    const rest = shown.length ? room - figure.length - 1 : room;
    const name = rest >= LEAST_NAME ? fitted(item.label, rest) : "";
    lines = [[...shown, ...(name && (rest >= LEAST_CUT || !name.includes("…")) ? [twain("what", name)] : [])]];
  }
  const length = (/** @type {[string, string][]} */ parts) =>
    parts.reduce((sum, [, text]) => sum + text.length + 1, -1) * char;
  const width = Math.max(indent - 4 + (lines[0].length ? 4 + length(lines[0]) : 0), length(lines[1] ?? []));
  if (width <= 0) return null;
  return { badge, lines, size, width, height: two ? 2 * size + 6 : size + 4 };
}

/** @param {string} name @param {string} text @returns {[string, string]} */
function twain(name, text) {
  return [name, text];
}

/** @param {string} text @param {number} most */
function fitted(text, most) {
  return cutName(text, most, 1);
}

// The figure that says most: the first one of a launch, which is its time, if known; the time or the share of a module,
// and before it is compiled the calls of eager in it.
/** @param {GroupItem} item @param {boolean} eager */
function figureOf(item, eager) {
  if (isHull(item)) {
    const [time] = (item.detail ?? "").split(" · ");
    return time.replace(/ \(.*\)$| of time$/, "").replace("about ", "≈").replace("under ", "<");
  }
  const facts = item.facts ?? [];
  if (eager) return facts.find(([name]) => name === "eager")?.[1] ?? "";
  return (facts.find(([name]) => name.startsWith("time")) ?? facts.find(([name]) => name.startsWith("share")))?.[1] ??
    "";
}
