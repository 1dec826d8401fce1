// The visible range of time, in microseconds, and the vertical scroll position.
const CLOSEST_US = 20;

export class Lens {
  from = 0;
  to = 1;
  top = 0;
  whole = 1;

  /** @param {number} whole */
  over(whole) {
    this.whole = Math.max(1, whole);
    this.fit();
  }

  get length() {
    return this.to - this.from;
  }

  get zoomed() {
    return this.length < this.whole * 0.999;
  }

  fit() {
    [this.from, this.to, this.top] = [0, this.whole, 0];
  }

  // Zoom in by a factor about a place in the view, 0 at its left and 1 at its right.
  /** @param {number} factor @param {number} at */
  zoom(factor, at) {
    const length = Math.min(this.whole, Math.max(Math.min(CLOSEST_US, this.whole), this.length / factor));
    this.place(this.from + (this.length - length) * at, length);
  }

  // Pan by a fraction of the visible range.
  /** @param {number} part */
  pan(part) {
    this.place(this.from + part * this.length, this.length);
  }

  /** @param {number} from @param {number} length */
  place(from, length) {
    this.from = Math.min(Math.max(0, from), this.whole - length);
    this.to = this.from + length;
  }

  // The range that shows a span with a margin on both sides.
  /** @param {number} begin @param {number} length @returns {[number, number]} */
  around(begin, length) {
    const wide = Math.min(this.whole, Math.max(CLOSEST_US, length * 1.06));
    return [Math.min(Math.max(0, begin - (wide - length) / 2), this.whole - wide), wide];
  }
}
