// The texts of a group's sign: what has room, and never a part of a word.
import { cutFacts, cutName, kernelNumbers } from "../dom.js";
import { TEXT_FROM } from "./camera.js";
import { headerOf, isHull } from "./compose.js";
import { groupLine, linesOf } from "./scene.js";
/** @import { Film } from "../film.js" */
/** @import { GroupItem, Placed } from "../types.d.ts" */

export const CHAR = 0.61;
const LEAST_WIDE = 16;
const LEAST_NAMED = 50;
// Letters of a name that is cut.
const LEAST_OPS = 7;
// A graph of the backward says it once, above.
const OF_BACKWARD = / \(backward\)$/;
const ESTIMATED = "time by bytes and FLOPs";
/** @type {Record<string, string>} */
const SHORT = {
  launches: "launches",
  "launches per layer": "launches each",
  "share of bytes": "of bytes",
  "share of time": "of time",
  [ESTIMATED]: "of time",
};

/** @typedef {Placed & { item: GroupItem }} PlacedGroup */

/** @param {string} badge @param {number} size */
export function badgeWidth(badge, size) {
  return Math.max(size + 4, 8 + badge.length * size * CHAR);
}

/** @typedef {{ badge: string, lines: [string, string][][], size: number, width: number, height: number }} Sign */

// The parts of a sign that fit into a box; null if none does.
/** @param {PlacedGroup} placed @param {number} k @param {number} size @param {Film} film @returns {Sign | null} */
export function signOf({ item, w, h, open }, k, size, film) {
  const signs = k < TEXT_FROM ? 0 : (open && !isHull(item) ? 44 : 24) * k;
  const [wide, high, char] = [w * k - 6 - signs, h * k - 4, size * CHAR];
  // Before the launches, a folded one is a group of ops like others.
  const badge = film.fusing ? "" : kernelNumbers(item.badge ?? "");
  const hull = isHull(item) && !film.fusing;
  const what = hull === isHull(item) ? groupLine(item) : "";
  const indent = badge ? badgeWidth(badge, size) + 4 : 0;
  if (high < size + 4 || wide < (hull ? Math.max(LEAST_WIDE, indent - 4) : LEAST_NAMED)) return null;
  const room = Math.floor((wide - indent) / char);
  const two = (open ? headerOf(item) : h) * k >= 2 * size + (open ? 9 : 7);
  const figure = figureOf(item, film);
  /** @type {[string, string][][]} */
  let lines;
  const line = (hull ? [what] : item.kind === "stack" ? [item.detail, figure] : [figure, what])
    .filter(Boolean);
  if (two) {
    const label = fitted(item.label, room);
    const place = film.fusing ? undefined : linesOf(item).find((text) => label.length + text.length + 1 <= room);
    const short = [item.kind === "stack" ? item.detail?.split(",")[0] : "", shortFigure(figure)].filter(Boolean);
    const fitting = [line, short].map((facts) => wholeFacts(facts.join(" · "), w * k - 8, char));
    // A few facts whole say more than the first of many.
    const second = fitting[1].length > fitting[0].length ? fitting[1] : fitting[0];
    lines = [[["name", label], ...(place ? [twain("what", place)] : [])], [["what", second]]];
    const rows = open ? 0 : Math.floor(high / (size + 3)) - 2;
    const more = film.fusing ? [figure] : hull ? [] : (item.facts ?? []).map(shortFact);
    for (const text of more.slice(0, Math.max(0, rows))) {
      const whole = wholeFacts(text, w * k - 8, char);
      // A time that is estimated by bytes has the bytes' share.
      const [now, before] = [whole, lines[1][0][1]].map((words) => words.replace("≈", "").split(" ", 2).join(" "));
      if (whole && now !== before && !lines[1][0][1].includes(whole)) lines.push([["what", whole]]);
    }
  } else if (!hull || !figure) {
    const shown = [figure, shortFigure(figure)].filter(Boolean).find((text) =>
      item.label.length + text.length + 1 <= room
    );
    lines = [[["name", fitted(item.label, room)], ...(shown ? [twain("what", shown)] : [])]];
  } else {
    // The share stands there if the name has room beside it.
    const figures = [`${figure}${shareIn(item)}`, figure, shortFigure(figure)].filter((text) => text.length <= room);
    const names = figures.map((text) => shortName(item.label, room - text.length - 1));
    const at = Math.max(0, names.findIndex(Boolean));
    const shown = figures.length ? [twain("name", figures[at])] : [];
    const name = figures.length ? names[at] : shortName(item.label, room);
    lines = [[...shown, ...(name ? [twain("what", name)] : [])]];
  }
  const length = (/** @type {[string, string][]} */ parts) =>
    parts.reduce((sum, [, text]) => sum + text.length + 1, -1) * char;
  const width = Math.max(indent - 4 + (lines[0].length ? 4 + length(lines[0]) : 0), ...lines.slice(1).map(length));
  if (width <= 0) return null;
  return { badge, lines, size, width, height: two ? lines.length * (size + 3) : size + 4 };
}

// A share without the word for its whole.
/** @param {string} figure */
function shortFigure(figure) {
  return figure.replace(/ of \w+$/, "");
}

// The share of a measured time, which stands behind it.
/** @param {GroupItem} item */
function shareIn({ detail = "" }) {
  return /^[^·]* (\([\d.]+ %\))/.exec(detail)?.[1].replace("(", " (") ?? "";
}

/** @param {string} name @param {string} text @returns {[string, string]} */
function twain(name, text) {
  return [name, text];
}

// A fact of a folded group, in few words.
/** @param {[string, string]} fact */
function shortFact([name, value]) {
  if (name === ESTIMATED) return `≈${value} ${SHORT[name]}`;
  return name in SHORT ? `${value} ${SHORT[name]}` : `${name} ${value}`;
}

// The facts that fit; of the first one at least its first part, or nothing.
/** @param {string} line @param {number} width @param {number} perCharacter */
function wholeFacts(line, width, perCharacter) {
  const facts = cutFacts(line, width, perCharacter);
  const [first] = line.split(/, | · /);
  return !facts.includes("…") ? facts : first.length * perCharacter <= width ? first : "";
}

// The whole name, its ops, its first op, or the beginning of that: what has room.
/** @param {string} name @param {number} most */
function shortName(name, most) {
  const ops = name.split(" · ").at(-1) ?? "";
  const [first] = ops.replace(OF_BACKWARD, "").split(/[,+]/);
  const whole = [name, ops, `${first.trim()} …`, first.trim()].find((text) => text.length <= most);
  return whole ?? (most >= LEAST_OPS ? cutName(first.trim(), most, 1) : "");
}

/** @param {string} text @param {number} most */
function fitted(text, most) {
  return cutName(text.length <= most ? text : text.replace(OF_BACKWARD, ""), most, 1);
}

// The figure that says most: the first one of a launch, which is its time, if known; the time or the share of a module.
// Before the launches there are only the calls of eager.
/** @param {GroupItem} item @param {Film} film */
function figureOf(item, { eager, fusing }) {
  if (isHull(item) && !fusing) {
    const [time] = (item.detail ?? "").split(" · ");
    return time.replace(/ \(.*\)$| by (?:bytes|FLOPs)$/, "").replace("about ", "≈").replace("under ", "<");
  }
  const facts = item.facts ?? [];
  if (fusing) return eager ? facts.find(([name]) => name === "eager")?.[1] ?? "" : "";
  const fact = facts.find(([name]) => name.startsWith("time")) ?? facts.find(([name]) => name.startsWith("share"));
  return fact ? fact[0] in SHORT ? shortFact(fact) : fact[1] : "";
}
