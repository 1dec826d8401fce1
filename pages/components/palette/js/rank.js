// Ranks entries for a query: all of a label first, then its start, the start of a word, the middle of one, and letters
// in their order. A word that a label lacks may stand in the rest: the entry's kind and its detail.
/** @import { PaletteEntry, PaletteGroup } from "../../js/wire.d.ts" */

/** @typedef {{ score: number, at: number[] }} Match `at` are the label's letters that match. */
/** @typedef {{ group: PaletteGroup, entry: PaletteEntry, score: number, at: number[] }} Hit */
/** @typedef {{ kind: string, title: string, hits: Hit[], searched: number, leftOut: number }} Section */

const SCORES = { whole: 1000, start: 850, word: 700, inside: 500, letters: 100, restWord: 60, rest: 40 };
const POINTS = { word: 10, next: 8, gap: -1 };
const OP_ID = /^(\S+) (\S+) ([nsgk]:\S+)$/;
const MOST_LETTERS = 120;
const MOST_TYPED = 40;

// The groups' entries that match, by kind: the kind with the best match first, in it the best match first.
/** @param {PaletteGroup[]} groups @param {string} query @returns {Section[]} */
export function ranked(groups, query) {
  const typed = query.trim().slice(0, MOST_LETTERS).toLowerCase();
  const sections = sectionsOf(groups);
  for (const section of sections) section.hits = typed ? matches(section.hits, typed) : section.hits;
  const nonempty = sections.filter(({ hits }) => hits.length);
  const op = opOf(query);
  if (op) return [op];
  return typed ? nonempty.sort((left, right) => right.hits[0].score - left.hits[0].score) : nonempty;
}

// The op whose id was typed or pasted: its compilation, its graph and its item, as in a slice of a Perfetto trace.
/** @param {string} query @returns {Section | null} */
function opOf(query) {
  const [, compilation, of, item] = OP_ID.exec(query.trim()) ?? [];
  if (!item) return null;
  const page = item.startsWith("k:") ? "kernels" : "fx_graph";
  const aim = { page, name: "select", query: { compilation, of } };
  /** @type {PaletteGroup} */
  const group = {
    kind: "Op",
    title: "Op",
    entries: [[item, item.slice(2), of]],
    aim,
    detail: `[${compilation}]`,
    left_out: 0,
  };
  const hit = { group, entry: group.entries[0], score: SCORES.whole, at: [] };
  return { kind: "Op", title: "Op", hits: [hit], searched: 1, leftOut: 0 };
}

/** @param {PaletteGroup[]} groups @returns {Section[]} */
function sectionsOf(groups) {
  /** @type {Map<string, Section>} */
  const sections = new Map();
  for (const group of groups) {
    const { kind, title } = group;
    const section = sections.get(kind) ?? { kind, title, hits: [], searched: 0, leftOut: 0 };
    sections.set(kind, section);
    for (const entry of group.entries) section.hits.push({ group, entry, score: 0, at: [] });
    section.searched += group.entries.length;
    section.leftOut += group.left_out;
  }
  return [...sections.values()];
}

/** @param {Hit[]} hits @param {string} typed */
function matches(hits, typed) {
  const matching = [];
  for (const hit of hits) {
    const [, label, detail] = hit.entry;
    const match = matchOf(typed, label, `${hit.group.kind} ${detail} ${hit.group.detail}`);
    if (match) matching.push({ ...hit, ...match });
  }
  return matching.sort((left, right) => right.score - left.score);
}

// How a lower-case query matches a label and the rest; null if it does not.
/** @param {string} typed @param {string} label @param {string} rest @returns {Match | null} */
function matchOf(typed, label, rest) {
  const whole = inLabel(typed, label);
  const words = typed.split(/\s+/);
  if (words.length < 2) return whole ?? inRest(typed, rest);
  const parts = words.map((word) => inLabel(word, label) ?? inRest(word, rest));
  if (parts.includes(null)) return whole;
  const each = /** @type {Match[]} */ (parts);
  const score = each.reduce((sum, match) => sum + match.score, 0) / each.length;
  if (whole && whole.score >= score) return whole;
  return { score, at: [...new Set(each.flatMap(({ at }) => at))].sort((one, other) => one - other) };
}

/** @param {string} typed @param {string} label @returns {Match | null} */
function inLabel(typed, label) {
  const lower = lowered(label);
  const [place, isStart] = placeOf(typed, lower, label);
  if (place < 0) return lettersOf(typed, lower.slice(0, MOST_LETTERS), label);
  const score = place === 0
    ? (typed.length === label.length ? SCORES.whole : SCORES.start)
    : (isStart ? SCORES.word : SCORES.inside);
  return { score: score - Math.min(label.length, 100) / 10, at: places(typed.length).map((index) => place + index) };
}

/** @param {string} typed @param {string} rest @returns {Match | null} */
function inRest(typed, rest) {
  const [place, isStart] = placeOf(typed, lowered(rest), rest);
  if (place < 0) return null;
  return { score: isStart ? SCORES.restWord : SCORES.rest, at: [] };
}

// Where a text first has the query, at the start of a word if it can.
/** @param {string} typed @param {string} lower @param {string} text @returns {[number, boolean]} */
function placeOf(typed, lower, text) {
  const first = lower.indexOf(typed);
  for (let place = first; place >= 0; place = lower.indexOf(typed, place + 1)) {
    if (startsWord(text, place)) return [place, true];
  }
  return [first, false];
}

// The letters of the query in their order: those at the start of a word count most, then those that follow each other.
// There is no match if fewer than half of the letters do either.
/** @param {string} typed @param {string} lower @param {string} label @returns {Match | null} */
function lettersOf(typed, lower, label) {
  const letters = typed.replace(/\s/g, "");
  if (letters.length > MOST_TYPED || !isInOrder(letters, lower)) return null;
  const starts = places(lower.length).map((place) => startsWord(label, place));
  /** @type {(Path | null)[]} */
  let best = new Array(lower.length).fill(null);
  for (let index = 0; index < letters.length; index += 1) best = nextLetter(letters[index], index, lower, starts, best);
  const path = best.reduce((one, other) => (other && (!one || other.score > one.score) ? other : one), null);
  if (!path || path.good * 2 < letters.length) return null;
  /** @type {number[]} */
  const at = [];
  for (let step = /** @type {Path | null} */ (path); step; step = step.before) at.unshift(step.place);
  const share = Math.max(0, path.score) / (POINTS.word * letters.length);
  return { score: SCORES.letters * (1 + share) - Math.min(label.length, 100) / 10, at };
}

/** @typedef {{ place: number, score: number, good: number, before: Path | null }} Path */

// The best path to each place of a letter, by the best paths to the places of the letter before it.
/**
 * @param {string} letter
 * @param {number} index
 * @param {string} lower
 * @param {boolean[]} starts
 * @param {(Path | null)[]} before
 */
function nextLetter(letter, index, lower, starts, before) {
  /** @type {(Path | null)[]} */
  const best = new Array(lower.length).fill(null);
  /** @type {Path | null} */
  let far = null;
  for (let place = 0; place < lower.length; place += 1) {
    const near = place > 0 ? before[place - 1] : null;
    if (lower[place] === letter) {
      const jump = index === 0 ? { before: null, score: 0 } : far && { before: far, score: far.score + POINTS.gap };
      const step = near && { before: near, score: near.score + POINTS.next };
      const chosen = step && (!jump || step.score >= jump.score) ? step : jump;
      if (chosen) {
        const good = (chosen.before?.good ?? 0) + Number(starts[place] || chosen === step);
        best[place] = { place, good, before: chosen.before, score: chosen.score + (starts[place] ? POINTS.word : 0) };
      }
    }
    if (near && (!far || near.score > far.score)) far = near;
  }
  return best;
}

/** @param {string} letters @param {string} lower */
function isInOrder(letters, lower) {
  let place = -1;
  for (const letter of letters) {
    place = lower.indexOf(letter, place + 1);
    if (place < 0) return false;
  }
  return true;
}

// A word starts after a sign, at a capital after a small letter, and at a digit after a letter.
/** @param {string} text @param {number} place */
function startsWord(text, place) {
  const here = text[place];
  if (!/[\p{L}\p{N}]/u.test(here)) return false;
  const before = place > 0 ? text[place - 1] : " ";
  if (!/[\p{L}\p{N}]/u.test(before)) return true;
  return /\p{Lu}/u.test(here) ? !/\p{Lu}/u.test(before) : /\p{N}/u.test(here) && !/\p{N}/u.test(before);
}

/** @param {number} count */
function places(count) {
  return Array.from({ length: count }, (_, place) => place);
}

// Lower case letter by letter, so that places stay the same.
/** @param {string} text */
function lowered(text) {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text;
}
