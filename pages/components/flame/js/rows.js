// The spans of a chart by row, each in time order: the span at a place, and its neighbours beside, above, below.
/** @import { FlameSpan } from "../../js/wire.d.ts" */

// Indexes of a span's fields.
export const ID = 0;
export const NAME = 1;
export const OWNER = 2;
export const BEGIN = 3;
export const LENGTH = 4;
export const OWN = 5;
export const ROW = 6;
export const THREAD = 7;

export class Rows {
  /** @param {FlameSpan[]} spans @param {number} count */
  constructor(spans, count) {
    /** @type {FlameSpan[][]} */
    this.rows = Array.from({ length: count }, () => []);
    /** @type {Map<string, FlameSpan>} */
    this.byId = new Map();
    for (const span of spans) {
      this.byId.set(span[ID], span);
      this.rows[span[ROW]]?.push(span);
    }
    for (const row of this.rows) row.sort((a, b) => a[BEGIN] - b[BEGIN]);
  }

  // The number of the last span of a row that begins at or before a time, −1 if none does.
  /** @param {number} row @param {number} time */
  before(row, time) {
    const spans = this.rows[row] ?? [];
    let [low, high] = [0, spans.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (spans[middle][BEGIN] <= time) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  // The span at a time, or one at most `slack` away, so that spans thinner than a pixel can be pointed at.
  /** @param {number} row @param {number} time @param {number} slack @returns {FlameSpan | null} */
  at(row, time, slack = 0) {
    const spans = this.rows[row] ?? [];
    const index = this.before(row, time);
    const span = spans[index];
    if (span && time <= span[BEGIN] + Math.max(span[LENGTH], slack)) return span;
    const next = spans[index + 1];
    return next && next[BEGIN] - time <= slack ? next : null;
  }

  // One step from a span with an arrow key: along its row, to its parent, or to its first child.
  /** @param {FlameSpan} span @param {string} key @returns {FlameSpan | null} */
  step(span, key) {
    const row = this.rows[span[ROW]];
    const index = row.indexOf(span);
    if (key === "ArrowLeft") return row[index - 1] ?? null;
    if (key === "ArrowRight") return row[index + 1] ?? null;
    if (key === "ArrowUp") return this.above(span);
    return this.below(span);
  }

  /** @param {FlameSpan} span */
  above(span) {
    for (let row = span[ROW] - 1; row >= 0; row -= 1) {
      const parent = this.at(row, span[BEGIN]);
      if (parent) return parent;
    }
    return null;
  }

  /** @param {FlameSpan} span */
  below(span) {
    for (let row = span[ROW] + 1; row < this.rows.length; row += 1) {
      const inside = this.rows[row].find((one) =>
        one[BEGIN] + one[LENGTH] > span[BEGIN] && one[BEGIN] < span[BEGIN] + span[LENGTH]
      );
      if (inside) return inside;
    }
    return null;
  }
}
