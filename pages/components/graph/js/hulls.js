// Hulls while fusion goes on: an outline around the ops of each call of eager, which has its name, and of each group of
// fused nodes. In the last frame the launches, which are groups of the graph, take their place.
import { arrange, filed, make } from "./dom.js";
import { groupOf } from "./film.js";
/** @import { Film } from "./film.js" */
/** @import { Stage } from "./picture/stage.js" */
/** @import { Paints, Placed } from "./types.d.ts" */

// An eager call's group: its number, and the name of its op.
const EAGER = /^e:\d+:(.*)$/;
const OUT = 7;
const MOST_OUT = 12;
const LINE = 1.5;

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
      const hull = same ? old : { members, g: drawHull(members, EAGER.exec(key)?.[1]) };
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

// True if this step joined the group.
/** @param {Placed[]} members @param {Film} film */
function isJoined(members, film) {
  return members.some(({ item }) => film.joins(item));
}

// From afar, groups are patches behind their boxes; the result are the names of eager's calls, each with its first op.
/**
 * @param {CanvasRenderingContext2D} context
 * @param {Placed[]} boxes
 * @param {Film} film
 * @param {number} k
 * @param {Paints} paints
 */
export function paintGroups(context, boxes, film, k, { line, now }) {
  /** @type {[string, Placed][]} */
  const names = [];
  const out = Math.max(OUT, Math.min(MOST_OUT, 1.6 / k));
  context.lineWidth = 2 * out;
  context.fillStyle = now;
  for (const { item, x, y, w, h } of boxes) {
    if (item.g !== undefined && film.joins(item)) context.fillRect(x - out, y - out, w + 2 * out, h + 2 * out);
  }
  for (const [key, members] of groupsOf(boxes, film)) {
    context.fillStyle = context.strokeStyle = isJoined(members, film) ? now : line;
    const sorted = [...members].sort((a, b) => a.y - b.y || a.x - b.x);
    context.beginPath();
    sorted.forEach(({ x, y, w, h }) => context.rect(x - out, y - out, w + 2 * out, h + 2 * out));
    context.fill();
    sorted.forEach((placed, at) => {
      const near = at && nearest(placed, sorted.slice(0, at));
      if (near) context.stroke(new Path2D(bridge(placed, near)));
    });
    const name = members.length > 1 && EAGER.exec(key)?.[1];
    if (name) names.push([name, sorted[0]]);
  }
  return names;
}

// The union of the members' boxes and of bridges between neighbours: drawn twice, the second time smaller, in the
// colour inside, so that only the outline of the union stays.
/** @param {Placed[]} members @param {string} [name] */
function drawHull(members, name) {
  const g = make("g", { class: members.length > 1 ? "joint" : "joint alone" });
  const sorted = [...members].sort((a, b) => a.y - b.y || a.x - b.x);
  for (const [layered, out] of /** @type {[string, number][]} */ ([["outline", OUT], ["inside", OUT - LINE]])) {
    const part = make("g", { class: layered }, g);
    sorted.forEach((placed, at) => {
      const { x, y, w, h } = placed;
      make("rect", { x: x - out, y: y - out, width: w + 2 * out, height: h + 2 * out, rx: out + 3 }, part);
      const near = at && nearest(placed, sorted.slice(0, at));
      if (near) make("path", { d: bridge(placed, near), "stroke-width": 2 * out }, part);
    });
  }
  const [{ x, y }] = sorted;
  // The box of an op that is one call of the same name says it already.
  if (name && (members.length > 1 || members[0].item.label !== name)) {
    make("text", { x: x - OUT, y: y - OUT - 2 * LINE - 2 }, g, name);
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
