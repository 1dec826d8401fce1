// A selected area of the chart: a range of time, in microseconds, and of rows, both ends included.
/** @import { Rows } from "./rows.js" */
/** @typedef {{ time: number, row: number }} Place */
/** @typedef {[from: number, to: number, first: number, last: number]} Area */

const STEPS_IN_US = 10;

// The area between two corners, as far as it is in the chart.
/** @param {Place} start @param {Place} end @param {number} whole @param {number} rows @returns {Area} */
export function areaOf(start, end, whole, rows) {
  const times = [start.time, end.time].map((time) => Math.min(Math.max(0, time), whole)).sort((a, b) => a - b);
  const [from, to] = times.map((time) => Math.round(time * STEPS_IN_US) / STEPS_IN_US);
  const [first, last] = [start.row, end.row].map((row) => Math.min(Math.max(0, row), rows - 1)).sort((a, b) => a - b);
  return [from, to, first, last];
}

// The area of a range of time over all rows.
/** @param {number} from @param {number} to @param {number} whole @param {Rows} rows @returns {Area} */
export function allRows(from, to, whole, rows) {
  const last = rows.rows.length - 1;
  return areaOf({ time: from, row: 0 }, { time: to, row: last }, whole, rows.rows.length);
}
