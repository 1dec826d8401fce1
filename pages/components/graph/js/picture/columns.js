// A long chain, such as the layers of a model, in columns side by side: one long strip would be unreadable.
/** @import { Box } from "../types.d.ts" */

const FROM_ITEMS = 4;
const FROM_PX = 2000;
const FROM_SHAPE = 2.5;
const SCREEN = 1.5;
const BETWEEN = 72;
const TURN = 30;
const MOST_GAP = 48;

// The boxes of a part that form one column, one per row; null if two boxes share a row.
/** @param {Box[]} boxes */
function chainOf(boxes) {
  const chain = [...boxes].sort((a, b) => a.Y - b.Y);
  const beside = chain.some((box, at) => at > 0 && box.Y < chain[at - 1].Y + chain[at - 1].H - 1);
  return beside ? null : chain;
}

// The number of columns that makes a long chain as wide as a screen; 1 if it may stay as it is.
/** @param {Box[]} chain */
function columnsOf(chain) {
  const [first, last] = [chain[0], chain[chain.length - 1]];
  const height = last.Y + last.H - first.Y;
  const width = Math.max(...chain.map((box) => box.W));
  if (chain.length < FROM_ITEMS || height < FROM_PX || height < FROM_SHAPE * width) return 1;
  return Math.min(chain.length, Math.round(Math.sqrt((SCREEN * height) / (width + BETWEEN))));
}

// From the foot of one column up between the two and into the head of the next.
/** @param {Box} source @param {Box} target @param {number} between */
function turned(source, target, between) {
  const [x, y] = [source.X + source.W / 2, source.Y + source.H];
  const [toX, toY] = [target.X + target.W / 2, target.Y];
  const third = (toY - y) / 3;
  // deno-fmt-ignore
  return [
    x, y, x, y + TURN, between, y + TURN, between, y,
    between, y + third, between, toY - third, between, toY,
    between, toY - TURN, toX, toY - TURN, toX, toY,
  ];
}

/**
 * Place a part's boxes in columns if it is a long chain, and return the curves of its edges; null if it is none.
 * @param {Box[]} boxes
 * @param {{ points: number[], source: Box, target: Box }[]} edges
 */
export function inColumns(boxes, edges) {
  const chain = boxes.length < FROM_ITEMS ? null : chainOf(boxes);
  const count = chain ? columnsOf(chain) : 1;
  if (!chain || count < 2) return null;
  const before = new Map(chain.map((box) => [box, [box.X + box.W / 2, box.Y]]));
  const width = Math.max(...chain.map((box) => box.W));
  const share = chain.reduce((sum, box) => sum + box.H, 0) / count;
  /** @type {Map<Box, number>} */
  const columnOf = new Map();
  let [used, y, column] = [0, TURN, 0];
  chain.forEach((box, at) => {
    const gap = at ? Math.min(MOST_GAP, Number(before.get(box)?.[1]) - bottomOf(chain[at - 1], before)) : 0;
    const next = Math.min(count - 1, Math.floor((used + box.H / 2) / share));
    y = next > column ? TURN : y + gap;
    column = next;
    columnOf.set(box, column);
    used += box.H;
    box.X = column * (width + BETWEEN) + (width - box.W) / 2;
    box.Y = y;
    y += box.H;
  });
  return edges.map(({ points, source, target }) => {
    const [from, to] = [columnOf.get(source) ?? 0, columnOf.get(target) ?? 0];
    if (from !== to) return turned(source, target, to * (width + BETWEEN) - BETWEEN / 2);
    return straightened(points, source, target, before);
  });
}

/** @param {Box} box @param {Map<Box, number[]>} before */
function bottomOf(box, before) {
  return Number(before.get(box)?.[1]) + box.H;
}

// A curve within a column keeps its ends on its boxes, and is drawn between them as a chain is.
/** @param {number[]} points @param {Box} source @param {Box} target @param {Map<Box, number[]>} before */
function straightened(points, source, target, before) {
  const [x, toX] = [
    points[0] - Number(before.get(source)?.[0]) + source.X + source.W / 2,
    points[points.length - 2] - Number(before.get(target)?.[0]) + target.X + target.W / 2,
  ];
  const [y, toY] = [source.Y + source.H, target.Y];
  const bend = (toY - y) / 2;
  return [x, y, x, y + bend, toX, toY - bend, toX, toY];
}
