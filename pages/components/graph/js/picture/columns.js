// A part that is a long strip, such as the layers of a model, in columns side by side, so that it has the shape of a
// window. A column has whole rows; an edge between columns goes through the gutters between them.
/** @import { Box } from "../types.d.ts" */

/** @typedef {{ rows: number, px: number, shape: number, worth: number }} Strip */

// The rows, height and shape from which a part may be in columns, and its share of its size that they may leave.
/** @type {Strip} */
const STRIP = { rows: 4, px: 2000, shape: 1.6, worth: 1 };
// Launches that are higher than a window.
/** @type {Strip} */
export const LAUNCHES = { rows: 2, px: 700, shape: 0, worth: 0.75 };
// The same, where little is beside the part: the window has room for more columns.
/** @type {Strip} */
export const ALONE = { ...LAUNCHES, px: 560, worth: 0.95 };
// Ops of a launch that is higher than a window.
/** @type {Strip} */
export const OPS = { rows: 6, px: 560, shape: 1.4, worth: 0.8 };
const SCREEN = 1.7;
const WORTH = 0.9;
const MOST_COLUMNS = 24;
const BETWEEN = 72;
const TURN = 30;
const MOST_GAP = 48;
const LANE = 11;
const OVER = 4;
const LANES = 5;

/** @typedef {{ boxes: Box[], left: number, top: number, right: number, bottom: number }} Row */
/** @typedef {{ points: number[], source: Box, target: Box }} Curve */
/**
 * @typedef {{
 *   column: number, row: number, start: number, next: number, x: number, y: number, head: number, foot: number
 * }} Move
 */

// The rows of a part from the top: boxes at a common height.
/** @param {Box[]} boxes */
function rowsOf(boxes) {
  /** @type {Row[]} */
  const rows = [];
  for (const box of [...boxes].sort((a, b) => a.Y - b.Y)) {
    const last = rows[rows.length - 1];
    const [left, top, right, bottom] = [box.X, box.Y, box.X + box.W, box.Y + box.H];
    if (!last || top >= last.bottom - 1) rows.push({ boxes: [box], left, top, right, bottom });
    else {
      last.boxes.push(box);
      [last.left, last.right] = [Math.min(last.left, left), Math.max(last.right, right)];
      last.bottom = Math.max(last.bottom, bottom);
    }
  }
  return rows;
}

// The columns of a long strip that give it the shape of a screen; one if it may stay as it is.
/** @param {Row[]} rows @param {boolean} isChain @param {Strip} strip */
function columnsOf(rows, isChain, { px, shape, worth }) {
  const height = (/** @type {Row[]} */ some) => some[some.length - 1].bottom - some[0].top;
  const width = (/** @type {Row[]} */ some) => {
    const [left, right] = isChain ? [0, widest(some)] : sidesOf(some, []);
    return right - left + BETWEEN;
  };
  if (height(rows) < px || height(rows) < shape * width(rows)) return [rows];
  const sized = (/** @type {Row[][]} */ columns) => {
    const [wide, high] = [columns.reduce((sum, column) => sum + width(column), 0), Math.max(...columns.map(height))];
    return { columns, size: Math.max(wide / SCREEN, high), area: wide * high };
  };
  const strip = sized([rows]);
  let best = { ...strip, size: Infinity };
  for (let count = 2; count <= Math.min(rows.length, MOST_COLUMNS); count += 1) {
    const next = sized(filled(rows, Math.ceil(height(rows) / count)));
    if (next.size < WORTH * best.size) best = next;
  }
  const isBetter = best.size < worth * strip.size || (best.size < strip.size && best.area < strip.area);
  return (isBetter ? best : strip).columns;
}

// Rows in columns of at most this height; a row that is higher has its own.
/** @param {Row[]} rows @param {number} most */
function filled(rows, most) {
  /** @type {Row[][]} */
  const columns = [[rows[0]]];
  for (const row of rows.slice(1)) {
    const column = columns[columns.length - 1];
    if (row.bottom - column[0].top <= most) column.push(row);
    else columns.push([row]);
  }
  return columns;
}

// From the foot of a box into the gutter at its column's right, over the columns between, and into the head of a box;
// in a chain, past the boxes of the same column, too.
// The rows of both may have higher boxes.
/**
 * @param {Box} source
 * @param {Box} target
 * @param {Move} from
 * @param {Move} to
 * @param {number} lane
 */
function turned(source, target, from, to, lane) {
  const [x, y] = [source.X + source.W / 2, source.Y + source.H];
  const [toX, toY] = [target.X + target.W / 2, target.Y];
  const aside = (lane % LANES - (LANES - 1) / 2) * LANE - BETWEEN / 2;
  const last = aside + (from.column === to.column ? from.next : to.start);
  const first = from.column > to.column ? last : aside + from.next;
  const { foot } = from;
  const { head } = to;
  const points = [x, y, ...down(x, y, foot)];
  // Up through a gutter, or down.
  const goesOver = first !== last;
  const leaves = goesOver || head - TURN < foot + TURN ? foot : foot + TURN;
  points.push(x, foot + TURN, first, 2 * foot + TURN - leaves, first, leaves);
  if (goesOver) {
    const over = -OVER - (lane % LANES) * LANE;
    points.push(...down(first, foot, over + TURN), first, over, first, over, (first + last) / 2, over);
    if (head < over + 3 * TURN) points.push(toX, over, toX, over, toX, head);
    else points.push(last, over, last, over, last, over + TURN, ...into(last, over + TURN, toX, head));
  } else points.push(...into(last, leaves, toX, head));
  return [...points, ...down(toX, head, toY)];
}

// From a gutter into the head of a box.
/** @param {number} x @param {number} y @param {number} toX @param {number} head */
function into(x, y, toX, head) {
  const enters = y > head - TURN ? head : head - TURN;
  return [...down(x, y, enters), x, 2 * head - TURN - enters, toX, head - TURN, toX, head];
}

// A straight piece of a curve.
/** @param {number} x @param {number} from @param {number} to */
function down(x, from, to) {
  const third = (to - from) / 3;
  return Math.abs(third) < 0.1 ? [] : [x, from + third, x, to - third, x, to];
}

/**
 * Place a part's boxes in columns if it is a long strip, and return the curves of its edges; null if it is none.
 * @param {Box[]} boxes
 * @param {Curve[]} edges
 * @param {Strip} [strip]
 */
export function inColumns(boxes, edges, strip = STRIP) {
  const rows = boxes.length < strip.rows ? [] : rowsOf(boxes);
  const isChain = rows.length === boxes.length;
  const columns = rows.length < strip.rows ? [] : columnsOf(rows, isChain, strip);
  if (columns.length < 2) return null;
  /** @type {Map<Box, number>} */
  const columnOf = new Map();
  columns.forEach((column, at) => column.forEach((row) => row.boxes.forEach((box) => columnOf.set(box, at))));
  /** @type {Map<Box, Move>} */
  const moves = new Map();
  let [start, next, row] = [0, 0, 0];
  columns.forEach((members, column) => {
    const own = edges.filter(({ source, target }) =>
      columnOf.get(source) === column && columnOf.get(target) === column
    );
    const [left, right] = isChain ? [0, widest(members)] : sidesOf(members, own);
    [start, next] = [next, next + right - left + BETWEEN];
    let [y, bottom] = [TURN, members[0].top];
    for (const { boxes, top, ...at } of members) {
      y += isChain ? Math.min(MOST_GAP, top - bottom) : top - bottom;
      // The boxes of a chain are below each other, other rows keep their places.
      const x = start - left + (isChain ? (left + right - at.left - at.right) / 2 : 0);
      const foot = y + at.bottom - top;
      const move = { column, row, start, next, x, y: y - top, head: y, foot };
      for (const box of boxes) {
        moves.set(box, move);
        [box.X, box.Y] = [box.X + move.x, box.Y + move.y];
      }
      [y, bottom, row] = [foot, at.bottom, row + 1];
    }
  });
  let lane = 0;
  return edges.map(({ points, source, target }) => {
    const [from, to] = [moves.get(source), moves.get(target)];
    if (!from || !to) return points;
    const isBeside = from.column === to.column && (!isChain || Math.abs(to.row - from.row) < 2);
    return isBeside ? within(points, from, to) : turned(source, target, from, to, lane++);
  });
}

/** @param {Row[]} rows */
function widest(rows) {
  return Math.max(...rows.map((row) => row.right - row.left));
}

// The sides of some rows and edges.
/** @param {Row[]} rows @param {Curve[]} edges */
function sidesOf(rows, edges) {
  let [left, right] = [Math.min(...rows.map((row) => row.left)), Math.max(...rows.map((row) => row.right))];
  for (const { points } of edges) {
    for (let i = 0; i < points.length; i += 6) [left, right] = [Math.min(left, points[i]), Math.max(right, points[i])];
  }
  return [left, right];
}

// A curve within a column: moved with its boxes, or drawn anew between two rows that moved by themselves.
/** @param {number[]} points @param {{ x: number, y: number }} from @param {{ x: number, y: number }} to */
function within(points, from, to) {
  if (Math.abs(from.x - to.x) < 0.5 && Math.abs(from.y - to.y) < 0.5) {
    return points.map((value, i) => value + (i % 2 ? from.y : from.x));
  }
  const [x, y] = [points[0] + from.x, points[1] + from.y];
  const [toX, toY] = [points[points.length - 2] + to.x, points[points.length - 1] + to.y];
  const bend = (toY - y) / 2;
  return [x, y, x, y + bend, toX, toY - bend, toX, toY];
}
