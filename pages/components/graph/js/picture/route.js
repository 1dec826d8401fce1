// The way of an edge inside an unfolded group, between its border and an item: down a lane between the boxes, so that
// no edge runs through an op that it does not belong to.
import { filed } from "../dom.js";
/** @import { Line, Picture, Placed } from "../types.d.ts" */

const INSIDE = 7;
const BESIDE = 10;
const CORNER = 12;
const BEFORE = 11;
const ROUND = 7;
const CROSSED = 2000;
const MOST_CROWDED = 160;
const APART = [0, -3, 3];

/** @typedef {{ left: number, right: number, top: number, bottom: number }} Block */

// The lanes of one picture: edges in the same lane lie beside each other.
export class Lanes {
  /** @param {Picture} picture */
  constructor(picture) {
    this.picture = picture;
    /** @type {Map<string, Line[]>} */
    this.taken = new Map();
  }

  // From a point on the border of `outer` to the head of an item inside it (side 1), or from its foot (side 0).
  /**
   * @param {Line} line
   * @param {Placed} outer
   * @param {Placed} inner
   * @param {number[]} port
   * @param {number} side
   * @param {number} channel how far below the border, or above it, a line may turn
   */
  route(line, outer, inner, [x, y], side, channel) {
    const down = side ? 1 : -1;
    const parent = this.picture.open.get(inner.gid) ?? outer;
    const blocks = this.around(outer, inner, down);
    const end = down * (side ? inner.y : inner.y + inner.h);
    const from = { x, y: down * y, turn: down * y + channel };
    // A port above an item leads straight down.
    const above = inner.x + CORNER < x && x < inner.x + inner.w - CORNER;
    const to = { x: above ? x : inner.x + inner.w / 2, y: end, turn: Math.max(from.turn, end - BEFORE) };
    const lane = laneOf(from, to, blocks, parent);
    const isStraight = lane === from.x || lane === to.x;
    const beside = isStraight ? 0 : this.place(line, `${parent.item.id} ${Math.round(lane)}`);
    const turns = [[x, from.turn + beside / 3], [lane + beside, from.turn + beside / 3]];
    if (lane !== to.x) turns.push([lane + beside, to.turn + beside], [to.x, to.turn + beside]);
    const corners = [[x, from.y], ...turns, [to.x, to.y]].map(([across, along]) => [across, down * along]);
    return rounded(side ? corners : corners.reverse());
  }

  // The step aside of an edge in its lane: all pieces of one edge share theirs.
  /** @param {Line} line @param {string} lane */
  place(line, lane) {
    const known = this.taken.get(lane)?.indexOf(line) ?? -1;
    if (known < 0) filed(this.taken, lane, line);
    const at = known < 0 ? (this.taken.get(lane)?.length ?? 1) - 1 : known;
    return APART[at % APART.length];
  }

  // The boxes that an edge has to pass, at every level between a group and an item; seen from the border.
  /** @param {Placed} outer @param {Placed} inner @param {number} down */
  around(outer, inner, down) {
    /** @type {Block[]} */
    const blocks = [];
    for (let at = inner; at !== outer;) {
      const parent = this.picture.open.get(at.gid);
      for (const { x, y, w, h } of this.picture.levels.get(at.gid) ?? []) {
        if (x === at.x && y === at.y) continue;
        const [top, bottom] = down > 0 ? [y, y + h] : [-y - h, -y];
        blocks.push({ left: x, right: x + w, top, bottom });
      }
      if (!parent) break;
      at = parent;
    }
    return blocks;
  }
}

/** @typedef {{ x: number, y: number, turn: number }} End */

// The lane with the fewest boxes in the way, and of those the shortest: the place of either end, or beside a box.
/** @param {End} from @param {End} to @param {Block[]} blocks @param {Placed} parent */
function laneOf(from, to, blocks, { x, w }) {
  const near = blocks.filter(({ top, bottom }) => top < to.y && bottom > from.y);
  const cost = (/** @type {number} */ lane) => {
    let crossed = 0;
    const last = lane === to.x ? to.y : to.turn;
    for (const block of near) {
      if (isIn(block, lane, lane, from.turn, last)) crossed += 1;
      if (isIn(block, from.x, lane, from.turn, from.turn)) crossed += 1;
      if (lane !== to.x && isIn(block, lane, to.x, last, last)) crossed += 1;
    }
    return CROSSED * crossed + Math.abs(lane - from.x) + Math.abs(lane - to.x) + (lane === to.x ? 0 : 1);
  };
  let [best, least] = [to.x, cost(to.x)];
  if (least < CROSSED || to.turn === from.turn || near.length > MOST_CROWDED) return best;
  const sides = near.flatMap(({ left, right }) => [left - BESIDE, right + BESIDE]);
  for (const lane of new Set([from.x, x + INSIDE, x + w - INSIDE, ...sides])) {
    if (lane < x + INSIDE || lane > x + w - INSIDE) continue;
    const next = cost(lane);
    if (next < least) [best, least] = [lane, next];
  }
  return best;
}

/** @param {Block} block @param {number} x @param {number} toX @param {number} y @param {number} toY */
function isIn({ left, right, top, bottom }, x, toX, y, toY) {
  return Math.max(x, toX) > left - 2 && Math.min(x, toX) < right + 2 && Math.max(y, toY) > top &&
    Math.min(y, toY) < bottom;
}

// A curve along straight lines, with round corners.
/** @param {number[][]} corners */
function rounded(corners) {
  const last = corners.length - 1;
  const isApart = (/** @type {number} */ at, /** @type {number} */ to) =>
    Math.hypot(corners[at][0] - corners[to][0], corners[at][1] - corners[to][1]) > 0.5;
  const path = corners.filter((_, at) => !at || at === last || (isApart(at, at - 1) && isApart(at, last)));
  const points = [...path[0]];
  for (let at = 1; at < path.length; at += 1) {
    const [[x, y], next] = [path[at], path[at + 1]];
    const [fromX, fromY] = path[at - 1];
    const length = Math.hypot(x - fromX, y - fromY) || 1;
    const bend = next ? Math.min(ROUND, length / 2, Math.hypot(next[0] - x, next[1] - y) / 2) : 0;
    const [endX, endY] = [x - (x - fromX) / length * bend, y - (y - fromY) / length * bend];
    const [startX, startY] = points.slice(-2);
    const third = (/** @type {number} */ a, /** @type {number} */ b) => a + (b - a) / 3;
    points.push(third(startX, endX), third(startY, endY), third(endX, startX), third(endY, startY), endX, endY);
    if (!next) break;
    const away = Math.hypot(next[0] - x, next[1] - y) || 1;
    points.push(x, y, x, y, x + (next[0] - x) / away * bend, y + (next[1] - y) / away * bend);
  }
  return points;
}
