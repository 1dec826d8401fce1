// Drawing of one item or one edge: SVG elements in the item's own coordinates.
import { counted } from "../../../js/shared.js";
import { headerOf, isHull } from "./compose.js";
import { cut, cutFacts, cutName, make, OP_CLASS, opClass } from "../dom.js";
import { glyph } from "../icons.js";
/** @import { MetricsData } from "../../../js/wire.d.ts" */
/** @import { GroupItem, ItemElement, Line, Placed, Stub } from "../types.d.ts" */

const FACT = 15;
const SHEET = 4;
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
      : [cls, label, item.kind, groupLine(item), item.facts, item.badge, thin, open, w, h],
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
  const before = drawNumber(g, item, m);
  const room = w - 2 * m.padX;
  const label = cutName(item.label, room - 18 - before, m.labelChar);
  make("text", { class: "label", x: m.padX + before, y: m.padY + 13 }, g, label);
  let y = m.padY + m.label;
  // What launches do is hidden before they are there.
  make("text", { class: "detail of-launch", x: m.padX, y: y + 11 }, g, cutFacts(groupLine(item), room, m.smallChar));
  y += m.detail;
  for (const [name, value] of item.facts ?? []) {
    if (y + FACT > h - m.padY + 1) break;
    const wide = (String(value).length + 1) * m.smallChar;
    const owner = name === "eager" ? "of-eager" : "of-launch";
    make("text", { class: `fact ${owner}`, x: m.padX, y: y + 11 }, g, cut(name, room - wide, m.smallChar));
    make(
      "text",
      { class: `detail ${owner}`, x: w - m.padX, y: y + 11, "text-anchor": "end" },
      g,
      cut(String(value), room, m.smallChar),
    );
    y += FACT;
  }
  foldSign(g, w - 21, 5, "unfold", `Unfold ${item.label}`);
}

// The number of a kernel, before the label of its hull; the result is the width that it takes.
/** @param {Element} parent @param {GroupItem} item @param {MetricsData} m */
function drawNumber(parent, { badge }, m) {
  if (!badge) return 0;
  const width = Math.max(16, 9 + badge.length * m.smallChar);
  const g = make("g", { class: "number", transform: `translate(${m.padX - 3} 4)` }, parent);
  make("rect", { width, height: 16, rx: 8 }, g);
  make("text", { x: width / 2, y: 12, "text-anchor": "middle" }, g, badge);
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
  const top = `M${round} 0H${w - round}A${corner} ${w} ${round}V${header - 6}H0V${round}A${corner} ${round} 0Z`;
  make("path", { class: "header", d: top }, g);
  const before = drawNumber(g, item, m);
  const room = w - before - (isHull(item) ? 2 * m.padX + m.foldSign : 3 * m.padX + 42);
  const label = cutName(item.label, room, m.labelChar);
  make("text", { class: "label", x: m.padX + before, y: 16 }, g, label);
  const rest = room - (label.length + 2) * m.labelChar;
  const line = groupLine(item);
  if (isHull(item)) {
    make("text", { class: "detail", x: m.padX, y: 32 }, g, cutFacts(line, w - 2 * m.padX, m.smallChar));
  } else if (rest > 6 * m.smallChar) {
    make(
      "text",
      { class: "detail", x: m.padX + (label.length + 1) * m.labelChar, y: 16 },
      g,
      cutFacts(line, rest, m.smallChar),
    );
  }
  if (!isHull(item)) foldSign(g, w - 42, 3, "deep", `Unfold all below ${item.label}`);
  foldSign(g, w - 21, 3, "fold", `Fold ${item.label}`);
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

/** @param {number[]} points */
function drawPath(points) {
  let d = `M${points[0]} ${points[1]}`;
  for (let i = 2; i + 5 < points.length; i += 6) d += `C${points.slice(i, i + 6).join(" ")}`;
  return d;
}

// The edge of a curve.
/** @param {Line | Stub} line */
export function edgeOf(line) {
  return line.edge ?? line.of.edge;
}

/** @param {Line | Stub} line */
export function drawCurve(line) {
  return line.edge ? drawEdge(line) : drawStub(line);
}

/** @param {Line} line */
function drawEdge({ edge, points, t }) {
  const g = make("g", { class: edge.bytes ? "edge" : "edge unstored" });
  g.classList.toggle("to-hull", t.open && isHull(t.item));
  const wide = edge.bytes ? Math.min(9, Math.max(1, (Math.log2(edge.bytes) - 8) * 0.5)) : 1;
  make("path", { class: "line", d: drawPath(points), style: `--wide:${wide.toFixed(2)}` }, g);
  make("path", { class: "head", d: arrowHead(points) }, g);
  if (edge.refused) drawBreak(g, points);
  return g;
}

// A refused fusion: a break in the middle of the edge.
/** @param {Element} parent @param {number[]} points */
function drawBreak(parent, points) {
  const [x, y] = middleOf(points);
  make("path", { class: "gap", d: `M${x - 9} ${y}H${x + 9}` }, parent);
  make("path", { class: "break", d: `M${x - 9} ${y - 3}H${x + 9}M${x - 9} ${y + 3}H${x + 9}` }, parent);
}

// While fusion goes on, a stub at a hull is the last piece of its edge, and has the head.
/** @param {Stub} stub */
function drawStub({ points, of, side }) {
  const end = side ? of.t : of.s;
  const g = make("g", { class: isHull(end.item) ? "stub of-hull" : "stub" });
  make("path", { class: "line", d: drawPath(points) }, g);
  if (side && isHull(end.item)) make("path", { class: "head", d: arrowHead(points) }, g);
  return g;
}

/** @param {number[]} p */
function arrowHead(p) {
  const [x, y] = p.slice(-2);
  let back = p.length - 4;
  while (back > 0 && Math.hypot(p[back] - x, p[back + 1] - y) < 0.5) back -= 2;
  const length = Math.hypot(x - p[back], y - p[back + 1]) || 1;
  const [ux, uy] = [(x - p[back]) / length, (y - p[back + 1]) / length];
  const [bx, by] = [x - ux * 6, y - uy * 6];
  return `M${x} ${y}L${bx - uy * 3} ${by + ux * 3}L${bx + uy * 3} ${by - ux * 3}Z`;
}

// The middle of a curve, for its label.
/** @param {number[]} p */
export function middleOf(p) {
  const at = 6 * Math.floor((p.length - 2) / 12);
  if (at + 7 >= p.length) return p.slice(0, 2);
  return [0, 1].map((i) => (p[at + i] + 3 * p[at + 2 + i] + 3 * p[at + 4 + i] + p[at + 6 + i]) / 8);
}
