// Drawing of one item: SVG elements in the item's own coordinates.
import { counted } from "../../../js/shared.js";
import { BELOW, headerOf, isHull } from "./compose.js";
import { cut, cutFacts, cutName, kernelNumbers, make, OP_CLASS, opClass } from "../dom.js";
import { glyph } from "../icons.js";
/** @import { MetricsData } from "../../../js/wire.d.ts" */
/** @import { GroupItem, Item, ItemElement, Placed } from "../types.d.ts" */

const FACT = 15;
const SHEET = 5;
const STRIPE = 5;
const TIME_FROM = 10;
const ROUND = 6;

/** @param {Placed} placed @param {MetricsData} m */
export function drawItem(placed, m) {
  const { item } = placed;
  const kind = item.g === undefined ? "node" : placed.open ? "open" : "group";
  const attributes = {
    class: `${kind} ${opClass(item.cls)}`,
    "data-id": item.id,
    role: "treeitem",
    "aria-selected": "false",
  };
  /** @type {ItemElement} */
  const g = Object.assign(make("g", attributes), { placed });
  if (item.g !== undefined) {
    g.dataset.group = String(item.g);
    g.classList.add(`is-${item.kind && OP_CLASS.test(item.kind) ? item.kind : "module"}`);
    g.classList.toggle("hull", isHull(item));
    g.setAttribute("aria-expanded", String(placed.open));
  }
  if (item.thin) g.classList.add("thin");
  if (item.g === undefined) drawNode(g, placed, m);
  else if (placed.open) drawOpen(g, item, placed, m);
  else drawGroup(g, item, placed, m);
  nameByText(g);
  return g;
}

// All that `drawItem` draws of a box: boxes that look the same, as in repeated layers, can be copies of each other.
/** @param {Placed} placed */
export function lookOf({ item, open, w, h }) {
  const { cls, label, thin } = item;
  return JSON.stringify(
    item.g === undefined
      ? [cls, label, item.detail, item.chips, thin, w, h]
      : [label, item.kind, groupLine(item), item.facts, item.badge, item.mix, thin, open, w, h],
  );
}

// A copy of a box that looks the same.
/** @param {ItemElement} pattern @param {Placed} placed */
export function copyItem(pattern, placed) {
  /** @type {ItemElement} */
  const g = Object.assign(/** @type {SVGGElement} */ (pattern.cloneNode(true)), { placed });
  g.dataset.id = placed.item.id;
  if (placed.item.g !== undefined) g.dataset.group = String(placed.item.g);
  return g;
}

// The accessible name is what is drawn, and the whole label where that is cut. Spaces between the texts are not drawn.
/** @param {ItemElement} g */
export function nameByText(g) {
  const texts = [...g.querySelectorAll("text")];
  for (const part of g.children) if (part.nextSibling?.nodeType !== Node.TEXT_NODE) part.after(" ");
  const drawn = texts.map((text) => text.textContent).join(", ");
  const { label, detail } = g.placed.item;
  const whole = [label, detail].filter(Boolean).join(", ");
  g.setAttribute("aria-label", drawn.includes("…") ? `${drawn}: ${whole}` : drawn);
}

/** @param {Element} g @param {number} w @param {number} h @param {string} [cls] */
function drawBox(g, w, h, cls) {
  make("rect", { class: "body", width: w, height: h, rx: 4 }, g);
  const circle = cls
    ? `M${-ROUND} ${h / 2}a${ROUND} ${ROUND} 0 1 0 ${2 * ROUND} 0a${ROUND} ${ROUND} 0 1 0 ${-2 * ROUND} 0`
    : "";
  make("path", { class: "stripe", d: `M4 0A4 4 0 0 0 0 4V${h - 4}A4 4 0 0 0 4 ${h}Z${circle}` }, g);
  if (cls) glyph(cls, 0, h / 2, g);
}

/** @param {ItemElement} g @param {Placed} placed @param {MetricsData} m */
function drawNode(g, { item, w, h }, m) {
  drawBox(g, w, h, item.cls || "other");
  const room = w - 2 * m.padX;
  let y = m.padY;
  make("text", { class: "label", x: m.padX, y: y + 13 }, g, cutName(item.label, room, m.labelChar));
  y += m.label;
  if (item.detail) {
    make("text", { class: "detail", x: m.padX, y: y + 11 }, g, cut(item.detail, room, m.smallChar));
    y += m.detail;
  }
  if (item.chips) drawChips(g, item.chips, w, y, m);
}

/** @param {Element} parent @param {string[]} chips @param {number} w @param {number} y @param {MetricsData} m */
function drawChips(parent, chips, w, y, m) {
  const right = w - m.padX;
  let x = m.padX;
  for (const [index, chip] of chips.entries()) {
    if (x > right) return;
    const more = index === chips.length - 1 ? 0 : 4 * m.chipChar;
    const full = chip.length * m.chipChar + 2 * m.chipPad;
    const fits = x + full + more <= right + 0.5 || index === 0;
    const room = right - x - 2 * m.chipPad - (full + more > right - x ? more : 0);
    const text = fits ? cut(chip, room, m.chipChar) : `+${chips.length - index}`;
    const width = text.length * m.chipChar + 2 * m.chipPad;
    const g = make("g", { class: "chip", transform: `translate(${x} ${y + 4})` }, parent);
    make("rect", { width, height: 15, rx: 7 }, g);
    make("text", { x: m.chipPad, y: 11 }, g, text);
    x = fits ? x + width + m.chipGap : Infinity;
  }
}

// A folded group: a pile of sheets if it is a stack of equal blocks, and as many facts as fit.
/** @param {ItemElement} g @param {GroupItem} item @param {Placed} placed @param {MetricsData} m */
function drawGroup(g, item, { w, h }, m) {
  if (item.kind === "stack") {
    for (const back of [2, 1]) {
      make("rect", { class: "sheet", x: back * SHEET, y: back * SHEET, width: w, height: h, rx: 4 }, g);
    }
  }
  drawBox(g, w, h);
  drawMix(g, item, h);
  const before = drawNumber(g, item, m);
  const room = w - 2 * m.padX;
  const label = cutName(item.label, room - 18 - before, m.labelChar);
  make("text", { class: "label", x: m.padX + before, y: m.padY + 13 }, g, label);
  let y = m.padY + m.label;
  // What launches do is hidden before they are there; in eager's step, its calls are in the place of the ops.
  const line = (/** @type {string} */ text, /** @type {string} */ owner) =>
    make("text", { class: `detail ${owner}`, x: m.padX, y: y + 11 }, g, cutFacts(text, room, m.smallChar));
  line(groupLine(item), isHull(item) ? "of-launch" : "of-steps");
  const eager = item.facts?.find(([name]) => name === "eager");
  if (eager) line(`eager: ${eager[1]}`, "of-eager");
  y += m.detail;
  for (const [name, value] of item.facts ?? []) {
    if (y + FACT > h - m.padY + 1) break;
    const wide = (String(value).length + 1) * m.smallChar;
    make("text", { class: "fact of-launch", x: m.padX, y: y + 11 }, g, cut(name, room - wide, m.smallChar));
    make(
      "text",
      { class: "detail of-launch", x: w - m.padX, y: y + 11, "text-anchor": "end" },
      g,
      cut(String(value), room, m.smallChar),
    );
    y += FACT;
  }
  drawTime(g, item, w);
  foldSign(g, w - 21, 5, "unfold", `Unfold ${item.label}`);
}

// The classes of the ops inside, as parts of the stripe.
/** @param {Element} g @param {GroupItem} item @param {number} h */
function drawMix(g, item, h) {
  for (const [cls, from, to] of mixOf(item)) {
    make("rect", {
      class: `mix ${opClass(cls)}`,
      x: 0,
      y: 2 + from * (h - 4),
      width: STRIPE,
      height: (to - from) * (h - 4),
    }, g);
  }
}

// The classes of a group's ops, each with where its part of the stripe begins and ends.
/** @param {Item} item @returns {[string, number, number][]} */
export function mixOf({ mix = [] }) {
  const all = mix.reduce((sum, [, count]) => sum + count, 0);
  let at = 0;
  return mix.map(([cls, count]) => [cls, at / all, (at += count) / all]);
}

// The share of time of a launch, as a part of its upper border.
/** @param {Element} g @param {GroupItem} item @param {number} w */
function drawTime(g, item, w) {
  const [share, room] = [shareOf(item), w - 2 * TIME_FROM];
  if (!share) return;
  make("path", { class: "time whole of-launch", d: `M${TIME_FROM} 0h${room}` }, g);
  make("path", { class: "time of-launch", d: `M${TIME_FROM} 0h${room * share}` }, g);
}

// The share of time in the facts of a launch; 0 if it is not known, or under 1 %.
/** @param {Item} item */
export function shareOf(item) {
  return isHull(item) ? Number(/(?:about |\()([\d.]+) %/.exec(item.detail ?? "")?.[1] ?? 0) / 100 : 0;
}

// The number of a kernel, before the label of its hull; the result is the width that it takes.
/** @param {Element} parent @param {GroupItem} item @param {MetricsData} m */
function drawNumber(parent, { badge }, m) {
  if (!badge) return 0;
  const number = kernelNumbers(badge);
  const width = 9 + number.length * m.smallChar;
  const g = make("g", { class: "number", transform: `translate(${m.padX - 3} 4)` }, parent);
  make("rect", { width, height: 16, rx: 8 }, g);
  make("text", { x: width / 2, y: 12, "text-anchor": "middle" }, g, number);
  return width + 2;
}

/** @param {GroupItem} item */
export function groupLine(item) {
  if (isHull(item)) return item.detail ?? "";
  return [item.detail, counted(item.count ?? item.to - item.from, "op")].filter(Boolean).join(" · ");
}

/** @param {ItemElement} g @param {GroupItem} item @param {Placed} placed @param {MetricsData} m */
function drawOpen(g, item, { w, h }, m) {
  const [header, round] = isHull(item) ? [headerOf(item), 12] : [headerOf(item), 6];
  make("rect", { class: "body", width: w, height: h, rx: round }, g);
  const corner = `${round} ${round} 0 0 1`;
  const top = `M${round} 0H${w - round}A${corner} ${w} ${round}V${header - BELOW}H0V${round}A${corner} ${round} 0Z`;
  make("path", { class: "header", d: top }, g);
  const before = drawNumber(g, item, m);
  const room = w - before - (isHull(item) ? 2 * m.padX + m.foldSign : 3 * m.padX + 42);
  const label = cutName(item.label, room, m.labelChar);
  make("text", { class: "label", x: m.padX + before, y: 16 }, g, label);
  const rest = room - (label.length + 2) * m.labelChar;
  const line = groupLine(item);
  if (isHull(item)) {
    make("text", { class: "detail", x: m.padX, y: 32 }, g, cutFacts(line, w - 2 * m.padX, m.smallChar));
    const place = linesOf(item).find((text) => text.length * m.smallChar <= rest);
    const right = w - m.padX - m.foldSign;
    if (place) make("text", { class: "detail lines", x: right, y: 16, "text-anchor": "end" }, g, place);
  } else if (rest > 6 * m.smallChar) {
    make(
      "text",
      { class: "detail", x: m.padX + (label.length + 1) * m.labelChar, y: 16 },
      g,
      cutFacts(line, rest, m.smallChar),
    );
  }
  drawTime(g, item, w);
  if (!isHull(item)) foldSign(g, w - 42, 3, "deep", `Unfold all below ${item.label}`);
  foldSign(g, w - 21, 3, "fold", `Fold ${item.label}`);
}

// The lines of a launch, with the file if there is room: `model.py:46–47`, `L46–47`; of several files, those of the
// first, `loss.py:42 …`.
/** @param {GroupItem} item */
export function linesOf({ facts = [] }) {
  const words = facts.find(([name]) => name === "lines")?.[1] ?? "";
  const [, file, lines, more] = /^([^;:]+\.py):([\d–, ]+)([:;]|$)/.exec(words) ?? [];
  if (!lines) return [];
  return more === ";" ? [`${file}:${lines} …`] : [`${file}:${lines}`, `L${lines}`];
}

const SIGNS = { unfold: "M4 8H12M8 4V12", fold: "M4 8H12", deep: "M4 4L8 8L12 4M4 9L8 13L12 9" };

/** @param {Element} parent @param {number} x @param {number} y @param {keyof typeof SIGNS} act @param {string} title */
function foldSign(parent, x, y, act, title) {
  const g = make("g", {
    class: "sign",
    transform: `translate(${x} ${y})`,
    role: "button",
    "aria-label": title,
    "data-act": act,
  }, parent);
  make("rect", { width: 16, height: 16, rx: 3 }, g);
  make("path", { d: SIGNS[act] }, g);
}
