// Formats numbers like core/base/words.py: three significant digits and a unit.
/** @type {[number, string][]} */
const DURATIONS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
/** @type {[number, string][]} */
const PREFIXES = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const THREE = { minimumSignificantDigits: 3, maximumSignificantDigits: 3 };

/** @param {number} value @param {string} unit "s", "%", or what is counted @returns {string} */
export function figure(value, unit) {
  if (value < 0) return `−${figure(-value, unit)}`;
  if (unit === "s") return duration(value);
  if (unit === "%") return `${number(value)} %`;
  const [size, prefix] = PREFIXES.find(([least]) => rounded(value) >= least) ?? [1, ""];
  const digits = size === 1 && Number.isInteger(value) ? String(value) : number(value / size);
  return `${digits} ${prefix}${unit}`.trimEnd();
}

/** @param {number} seconds */
function duration(seconds) {
  if (seconds >= 99.95) return longDuration(Math.round(seconds));
  if (seconds === 0) return "0 s";
  const [size, unit] = DURATIONS.find(([least]) => rounded(seconds) >= least) ?? [1e-9, "ns"];
  return `${number(seconds / size)} ${unit}`;
}

/** @param {number} seconds */
function longDuration(seconds) {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60).toLocaleString("en")} h ${minutes % 60} min`;
}

/** @param {number} value */
function number(value) {
  if (value === 0) return "0";
  if (value >= 1e-4 && value < 1e15) return rounded(value).toLocaleString("en", THREE);
  const [digits, exponent] = rounded(value).toExponential(2).split("e");
  return `${digits}e${Number(exponent)}`;
}

// Python rounds a number exactly in the middle to the even digit, JavaScript rounds it up.
/** @param {number} value */
function rounded(value) {
  const exact = value.toExponential(30);
  return Number(/\.\d[02468]50*e/.test(exact) ? exact.replace(/50*e/, "e") : value.toExponential(2));
}
