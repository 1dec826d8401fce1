// Times along the chart: steps of 1, 2 or 5, each with enough digits to distinguish it from the next.
const STEPS = [1, 2, 5, 10];

// Ticks between two times in microseconds, at most so many; seconds where the whole takes that long, else milliseconds.
/** @param {number} from @param {number} to @param {number} most @param {number} whole @returns {[number, string][]} */
export function ticks(from, to, most, whole) {
  const least = Math.max((to - from) / Math.max(1, most), 1);
  const decade = 10 ** Math.floor(Math.log10(least));
  const step = decade * (STEPS.find((one) => one * decade >= least) ?? 10);
  const [size, unit] = whole >= 1e6 ? [1e6, "s"] : [1e3, "ms"];
  const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
  /** @type {[number, string][]} */
  const ticks = [];
  for (let index = Math.ceil(from / step); index * step <= to; index += 1) {
    ticks.push([index * step, `${((index * step) / size).toFixed(digits)} ${unit}`]);
  }
  return ticks;
}
