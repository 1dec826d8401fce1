// Hulls while fusion goes on: an outline around the ops of each call of eager, which has its name, and of each group of
// fused nodes. In the last frame the launches, which are groups of the graph, take their place.
import { arrange, filed, make } from "./dom.js";
import { groupOf } from "./film.js";
import { boundsOf, Grid } from "./picture/grid.js";
/** @import { Film } from "./film.js" */
/** @import { Stage } from "./picture/stage.js" */
/** @import { Paints, Placed, Rect } from "./types.d.ts" */

// An eager call's group: its number, and the name of its op.
const EAGER = /^e:\d+:(.*)$/;
const OUT = 10;
const MOST_OUT = 14;
const LINE = 1.5;
const TINT = 0.14;

export class Hulls {
  /** @type {Map<string, { members: Placed[], g: SVGGElement }>} */
  drawn = new Map();

  /** @param {Stage} stage @param {HTMLElement} root */
  constructor(stage, root) {
    this.stage = stage;
    this.root = root;
  }

  // A film of fusions shows its launches and what they store in the last frame alone.
  /** @param {Film} film */
  mark(film) {
    this.root.classList.toggle("unfused", film.fusing);
    this.root.classList.toggle("eager-step", film.eager);
    this.root.classList.toggle("fused", film.joining && !film.fusing);
  }

  // Draw the groups of this frame; those that have the same members as before stay.
  /** @param {Film} film */
  show(film) {
    const groups = groupsOf(this.stage.drawn.keys(), film);
    const before = this.drawn;
    this.drawn = new Map();
    for (const [key, members] of groups) {
      const old = before.get(key);
      const same = old && old.members.length === members.length && old.members.every((it, at) => it === members[at]);
      const hull = same ? old : { members, g: drawHull(members, this.stage.grid, EAGER.exec(key)?.[1]) };
      hull.g.classList.toggle("now", isJoined(members, film));
      this.drawn.set(key, hull);
    }
    arrange(this.stage.joints, [...this.drawn.values()].map(({ g }) => g));
  }
}

// The boxes of each call of eager, or of each group of fused nodes, in this frame.
/** @param {Iterable<Placed>} boxes @param {Film} film */
function groupsOf(boxes, film) {
  /** @type {Map<string, Placed[]>} */
  const groups = new Map();
  for (const placed of film.fusing ? boxes : []) {
    const key = groupOf(placed.item, film.at);
    // An op that several launches compute has a hull in each, since the launch is the level of the op. An eager call
    // has one hull.
    if (key) filed(groups, EAGER.test(key) ? key : `${key} ${placed.gid}`, placed);
  }
  return groups;
}

// True if this step joined the group, or, if it moved no op, other loops of the group's ops.
/** @param {Placed[]} members @param {Film} film */
function isJoined(members, film) {
  return members.some(({ item }) => film.joins(item) || (!film.sets[film.at].joined.size && film.touches(item)));
}

// From afar, groups are patches behind their boxes; the result are the names of eager's calls, each with its first op.
/**
 * @param {CanvasRenderingContext2D} context
 * @param {Placed[]} boxes
 * @param {Film} film
 * @param {number} k
 * @param {Paints} paints
 */
export function paintGroups(context, boxes, film, k, { line, now, bg }) {
  /** @type {[string, { x: number, y: number, w: number, h: number }][]} */
  const names = [];
  const out = Math.max(OUT, Math.min(MOST_OUT, 1.6 / k));
  context.fillStyle = now;
  for (const { item, x, y, w, h } of boxes) {
    if (item.g !== undefined && film.joins(item)) context.fillRect(x - out, y - out, w + 2 * out, h + 2 * out);
  }
  const groups = groupsOf(boxes, film);
  /** @type {Grid<Placed>} */
  const grid = new Grid();
  if (groups.size) { for (const placed of boxes) grid.add(placed); }
  for (const [key, members] of groups) {
    const colour = isJoined(members, film) ? now : line;
    const { rects, bridges, first } = regionOf(members, grid);
    // The outline, then what is inside: a tint on paper.
    for (
      const [paint, alpha, wide] of /** @type {[string, number, number][]} */ ([
        [colour, 1, out],
        [bg, 1, out - LINE / k],
        [colour, TINT, out - LINE / k],
      ])
    ) {
      context.fillStyle = context.strokeStyle = paint;
      context.globalAlpha = alpha;
      context.lineWidth = 2 * wide;
      context.beginPath();
      for (const [left, top, right, bottom] of rects) {
        context.rect(left - wide, top - wide, right - left + 2 * wide, bottom - top + 2 * wide);
      }
      context.fill();
      for (const path of bridges) context.stroke(new Path2D(path));
    }
    context.globalAlpha = 1;
    const name = members.length > 1 && EAGER.exec(key)?.[1];
    const [x, y, right, bottom] = rects.length > 1 ? first.box : rects[0];
    if (name) names.push([name, { x, y, w: right - x, h: bottom - y }]);
  }
  return names;
}

// A group's region: one rectangle, if no other box is in it; else those of its boxes and of neighbours in one level
// that have no other box between them, with bridges between the others. The last is the group's first box.
/** @param {Placed[]} members @param {Grid<Placed>} grid */
function regionOf(members, grid) {
  const sorted = [...members].sort((a, b) => a.y - b.y || a.x - b.x);
  const own = new Set(members);
  const around = (/** @type {Placed[]} */ some) => {
    const [left, top, right, bottom] = boundsOf(some);
    const inside = grid.find([left - OUT, top - OUT, right + OUT, bottom + OUT]);
    const free = some.every(({ gid }) => gid === some[0].gid) && [...inside].every((it) => it.open || own.has(it));
    return free ? [[left, top, right, bottom]] : [];
  };
  const [first] = sorted;
  const whole = around(sorted);
  if (whole.length) return { rects: whole, bridges: [], first };
  /** @type {Rect[]} */
  const rects = sorted.map(({ box }) => box);
  /** @type {string[]} */
  const bridges = [];
  sorted.forEach((placed, at) => {
    if (!at) return;
    const near = nearest(placed, sorted.slice(0, at));
    const joint = around([placed, near]);
    if (joint.length) rects.push(...joint);
    else bridges.push(bridge(placed, near));
  });
  return { rects, bridges, first };
}

// A group's region, drawn twice, the second time smaller, in the colour inside, so that only its outline stays.
/** @param {Placed[]} members @param {Grid<Placed>} grid @param {string} [name] */
function drawHull(members, grid, name) {
  const g = make("g", { class: members.length > 1 ? "joint" : "joint alone" });
  const { rects, bridges, first } = regionOf(members, grid);
  for (const [layered, out] of /** @type {[string, number][]} */ ([["outline", OUT], ["inside", OUT - LINE]])) {
    const part = make("g", { class: layered }, g);
    for (const [x, y, to, end] of rects) {
      make("rect", { x: x - out, y: y - out, width: to - x + 2 * out, height: end - y + 2 * out, rx: out + 3 }, part);
    }
    for (const d of bridges) make("path", { d, "stroke-width": 2 * out }, part);
  }
  // The box of an op that is one call of the same name says it already.
  if (name && (members.length > 1 || members[0].item.label !== name)) {
    const x = rects.length > 1 ? first.x : rects[0][0];
    make("text", { x: x - OUT, y: first.y - OUT - 2 * LINE - 2 }, g, name);
  }
  return g;
}

/** @param {Placed} from @param {Placed} to */
function distance(from, to) {
  const apart = (
    /** @type {number} */ a,
    /** @type {number} */ size,
    /** @type {number} */ b,
    /** @type {number} */ wide,
  ) => Math.max(0, b - a - size, a - b - wide);
  return Math.hypot(apart(from.x, from.w, to.x, to.w), apart(from.y, from.h, to.y, to.h));
}

/** @param {Placed} placed @param {Placed[]} others */
function nearest(placed, others) {
  return others.reduce((best, next) => (distance(placed, next) < distance(placed, best) ? next : best));
}

/** @param {Placed} from @param {Placed} to */
function bridge(from, to) {
  return `M${from.x + from.w / 2} ${from.y + from.h / 2}L${to.x + to.w / 2} ${to.y + to.h / 2}`;
}
