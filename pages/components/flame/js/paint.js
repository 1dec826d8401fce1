// The chart on a canvas: an axis on top, then a bar for each span; spans thinner than a pixel share one mark.
import { ticks } from "./axis.js";
import { figure } from "../../js/words.js";
import { BEGIN, ID, LENGTH, NAME } from "./rows.js";
/** @import { FlameData, FlameSpan } from "../../js/wire.d.ts" */
/** @import { Area } from "./area.js" */
/** @import { Lens } from "./lens.js" */
/** @import { Rows } from "./rows.js" */

export const AXIS = 22;
export const ROW_HEIGHT = 19;
const TICK_EVERY = 90;
const TEXT_FROM = 26;

/**
 * @typedef {{
 *   data: FlameData,
 *   rows: Rows,
 *   lens: Lens,
 *   selected: string | null,
 *   area: Area | null,
 *   hits: Set<number> | null,
 * }} Shown
 */
/** @typedef {{ ink: string, paper: string, line: string, accent: string, font: string, dark: boolean }} Look */
/** @typedef {{ context: CanvasRenderingContext2D, width: number, height: number, look: Look, letter: number }} Sheet */

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 * @param {Look} look
 * @returns {Sheet}
 */
export function sheetOn(canvas, width, height, look) {
  const sharp = Math.min(2, devicePixelRatio || 1);
  [canvas.width, canvas.height] = [Math.ceil(width * sharp), Math.ceil(height * sharp)];
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(sharp, 0, 0, sharp, 0, 0);
  context.font = `500 11px ${look.font}`;
  return { context, width, height, look, letter: context.measureText("0").width };
}

/** @param {Sheet} sheet @param {Shown} shown */
export function paint(sheet, shown) {
  const { context, width, height, look } = sheet;
  context.fillStyle = look.paper;
  context.fillRect(0, 0, width, height);
  context.save();
  context.beginPath();
  context.rect(0, AXIS, width, height - AXIS);
  context.clip();
  paintLines(sheet, shown);
  shown.rows.rows.forEach((row, index) => paintRow(sheet, shown, row, AXIS + index * ROW_HEIGHT - shown.lens.top));
  paintThreads(sheet, shown);
  if (shown.area) paintArea(sheet, shown.lens, shown.area);
  context.restore();
  paintAxis(sheet, shown);
  if (shown.area) paintLength(sheet, shown.lens, shown.area);
}

/** @param {Sheet} sheet @param {Shown} shown */
function marks({ width }, { lens, data }) {
  return ticks(lens.from, lens.to, width / TICK_EVERY, data.length_us);
}

/** @param {Sheet} sheet @param {Lens} lens @param {number} time */
function across({ width }, lens, time) {
  return ((time - lens.from) / lens.length) * width;
}

/** @param {Sheet} sheet @param {Shown} shown */
function paintLines(sheet, shown) {
  const { context, height, look } = sheet;
  context.strokeStyle = look.line;
  context.lineWidth = 1;
  context.beginPath();
  for (const [time] of marks(sheet, shown)) {
    const x = Math.round(across(sheet, shown.lens, time)) + 0.5;
    context.moveTo(x, AXIS);
    context.lineTo(x, height);
  }
  context.stroke();
}

/** @param {Sheet} sheet @param {Shown} shown */
function paintAxis(sheet, shown) {
  const { context, width, look, letter } = sheet;
  context.fillStyle = look.ink;
  context.globalAlpha = 0.8;
  for (const [time, label] of marks(sheet, shown)) {
    const wide = label.length * letter;
    context.fillText(label, Math.min(Math.max(2, across(sheet, shown.lens, time) - wide / 2), width - wide - 2), 14);
  }
  context.globalAlpha = 1;
}

/** @param {Sheet} sheet @param {Shown} shown @param {FlameSpan[]} row @param {number} y */
function paintRow(sheet, shown, row, y) {
  if (y > sheet.height || y + ROW_HEIGHT < AXIS) return;
  const { lens } = shown;
  let drawn = -1;
  for (const span of row) {
    const end = span[BEGIN] + span[LENGTH];
    if (end < lens.from) continue;
    if (span[BEGIN] > lens.to) break;
    const left = Math.max(-2, across(sheet, lens, span[BEGIN]));
    const right = Math.min(sheet.width + 2, across(sheet, lens, end));
    const marked = shown.selected === span[ID] || shown.hits?.has(span[NAME]);
    if (right <= drawn && !marked) continue;
    paintBar(sheet, shown, span, left, Math.max(1, right - left - 0.5), y);
    drawn = Math.max(drawn, Math.ceil(right));
  }
}

/**
 * @param {Sheet} sheet
 * @param {Shown} shown
 * @param {FlameSpan} span
 * @param {number} x
 * @param {number} wide
 * @param {number} y
 */
function paintBar({ context, look, letter }, { data, selected, hits }, span, x, wide, y) {
  const name = data.names[span[NAME]];
  const hit = hits?.has(span[NAME]) ?? false;
  const colour = data.legend[name.kind];
  context.globalAlpha = hits && !hit ? 0.16 : look.dark ? 0.5 : 0.6;
  context.fillStyle = look.dark ? colour.dark : colour.light;
  context.fillRect(x, y + 1, wide, ROW_HEIGHT - 2);
  context.globalAlpha = 1;
  if (selected === span[ID]) frame(context, look.accent, 2.5, x, y, wide);
  else if (hit && wide > 3) frame(context, look.ink, 1, x, y, wide);
  const room = Math.floor((wide - 8) / letter);
  if (wide < TEXT_FROM || room < 2 || (hits && !hit)) return;
  context.fillStyle = look.ink;
  context.fillText(
    name.text.length > room ? `${name.text.slice(0, room - 1)}…` : name.text,
    Math.max(x, 0) + 4,
    y + 14,
  );
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} colour
 * @param {number} thick
 * @param {number} x
 * @param {number} y
 * @param {number} wide
 */
function frame(context, colour, thick, x, y, wide) {
  context.strokeStyle = colour;
  context.lineWidth = thick;
  const inset = thick / 2;
  context.strokeRect(x + inset, y + 1 + inset, Math.max(0.5, wide - thick), ROW_HEIGHT - 2 - thick);
}

/** @param {Sheet} sheet @param {Lens} lens @param {Area} area */
function paintArea(sheet, lens, [from, to, first, last]) {
  const { context, look } = sheet;
  const [left, right] = [across(sheet, lens, from), across(sheet, lens, to)];
  const [top, bottom] = [first, last + 1].map((row) => AXIS + row * ROW_HEIGHT - lens.top);
  context.fillStyle = context.strokeStyle = look.accent;
  context.globalAlpha = 0.14;
  context.fillRect(left, top, right - left, bottom - top);
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.strokeRect(left, top, Math.max(1, right - left), bottom - top);
}

// The length of the area is written over the axis, in the middle of what is in view.
/** @param {Sheet} sheet @param {Lens} lens @param {Area} area */
function paintLength(sheet, lens, [from, to]) {
  const { context, width, look, letter } = sheet;
  const [left, right] = [from, to].map((time) => Math.min(Math.max(0, across(sheet, lens, time)), width));
  if (to < lens.from || from > lens.to) return;
  const label = figure((to - from) / 1e6, "s");
  const wide = label.length * letter + 12;
  const x = Math.min(Math.max(0, (left + right - wide) / 2), width - wide);
  context.fillStyle = look.accent;
  context.fillRect(left, AXIS - 3, Math.max(1, right - left), 3);
  context.fillRect(x, 1, wide, AXIS - 3);
  context.fillStyle = look.paper;
  context.fillText(label, x + 6, 14);
}

// Spans of other threads are below a line.
/** @param {Sheet} sheet @param {Shown} shown */
function paintThreads({ context, width, look }, { data, lens }) {
  if (!data.threads) return;
  const y = Math.round(AXIS + data.rows * ROW_HEIGHT - lens.top) - 0.5;
  context.strokeStyle = look.ink;
  context.globalAlpha = 0.5;
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(0, y);
  context.lineTo(width, y);
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}
