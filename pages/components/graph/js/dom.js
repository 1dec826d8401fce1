// Small things that every part of the view needs: elements, text that fits, figures with units, and what the user asked of motion.
const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "rect", "path", "text", "defs", "pattern"]);
const OP_CLASS = /^[a-z_]+$/;
const TALL_UNITS = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

function make(tag, attributes, parent, text) {
  const element = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent?.append(element);
  return element;
}

function button(parent, text, title, act, attributes = {}) {
  const element = make("button", { type: "button", title, "aria-label": title, ...attributes }, parent, text);
  element.onclick = act;
  return element;
}

function opClass(name) {
  return `op-${OP_CLASS.test(name ?? "") ? name : "other"}`;
}

function cut(text, width, perCharacter) {
  const most = Math.max(1, Math.floor(width / perCharacter + 0.01));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

function counted(number, word) {
  return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
}

function three(value) {
  return value === 0 ? "0" : Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
}

// A figure with three digits and its unit, such as "1.2 MB"; seconds and microseconds change their unit with their size.
function figure(value, unit) {
  if (unit === "s" && value > 0 && value < 1) return value < 1e-3 ? `${three(value * 1e6)} µs` : `${three(value * 1e3)} ms`;
  if ((unit === "us" || unit === "µs") && value >= 1e3) return value < 1e6 ? `${three(value / 1e3)} ms` : `${three(value / 1e6)} s`;
  const name = { bytes: "B", flop: "FLOP", us: "µs" }[unit] ?? unit ?? "";
  const [size, prefix] = TALL_UNITS.find(([least]) => Math.abs(value) >= least) ?? [1, ""];
  return name.includes("/") || name === "%" ? `${three(value)} ${name}` : `${three(value / size)} ${prefix}${name}`.trimEnd();
}

function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

function isDark(element) {
  const probe = make("span", { style: "color: var(--st-background-color, #fff)" }, element);
  const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.remove();
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
}

function nearest(items, distance) {
  let [best, least] = [undefined, Infinity];
  for (const item of items) {
    const away = distance(item);
    if (away < least) [best, least] = [item, away];
  }
  return best;
}

// What a view remembers in this tab; a browser that refuses to store anything remembers nothing.
function remembered(name) {
  try {
    return JSON.parse(sessionStorage.getItem(`compileboard:${name}`));
  } catch {
    return null;
  }
}

function remember(name, value) {
  try {
    sessionStorage.setItem(`compileboard:${name}`, JSON.stringify(value));
  } catch {
    // Full or forbidden: the view works without.
  }
}
