// The find box of a code view: the matches of a text, the current match, and lines cut into marked pieces.
import { FindBox } from "../../js/find_box.js";
import { element } from "../../js/shared.js";
/** @import { CodeLine } from "./dom.js" */
/** @import { Sheet } from "./sheet.js" */

const MOST_HITS = 10000;

/** @typedef {{ index: number, start: number, end: number }} Hit */

export class Finder extends FindBox {
  // `changed` is called when other lines have hits.
  /** @param {Sheet} sheet @param {() => void} changed */
  constructor(sheet, changed) {
    super("Find", "Find in this code", () => sheet.scroller.focus({ preventScroll: true }));
    this.sheet = sheet;
    this.changed = changed;
    /** @type {Hit[]} */
    this.hits = [];
    /** @type {Map<number, Hit[]>} */
    this.byLine = new Map();
    this.now = -1;
  }

  /** @override */
  find() {
    const wanted = this.input.value.toLowerCase();
    const before = this.byLine;
    this.hits = [];
    this.byLine = new Map();
    this.now = -1;
    if (wanted) this.sheet.lines.forEach((line, index) => this.findInLine(line, index, wanted));
    for (const index of new Set([...before.keys(), ...this.byLine.keys()])) this.sheet.drawText(index);
    this.tally.textContent = wanted ? "none" : "";
    this.step(1);
    this.changed();
  }

  /** @param {CodeLine} line @param {number} index @param {string} wanted */
  findInLine(line, index, wanted) {
    const text = line.text.toLowerCase();
    /** @type {Hit[]} */
    const lineHits = [];
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      if (this.hits.length === MOST_HITS) break;
      const hit = { index, start: at, end: at + wanted.length };
      lineHits.push(hit);
      this.hits.push(hit);
    }
    if (lineHits.length) this.byLine.set(index, lineHits);
  }

  /** @param {number} by @override */
  step(by) {
    if (!this.hits.length) return;
    const before = this.hits[this.now];
    this.now = (this.now + by + this.hits.length) % this.hits.length;
    if (before) this.sheet.drawText(before.index);
    const { index } = this.hits[this.now];
    this.sheet.drawText(index);
    this.sheet.reveal(index, ".now");
    const most = this.hits.length === MOST_HITS ? "+" : "";
    this.tally.textContent = `${(this.now + 1).toLocaleString("en")} of ${
      this.hits.length.toLocaleString("en")
    }${most}`;
  }

  /** @param {CodeLine} line @param {number} index */
  pieces(line, index) {
    const hits = this.byLine.get(index) ?? [];
    const edges = hits.flatMap((hit) => [hit.start, hit.end]);
    let at = 0;
    return line.runs.flatMap(([kind, text]) => {
      const start = at;
      at += text.length;
      const bounds = [start, ...edges.filter((edge) => edge > start && edge < at), at];
      return bounds.slice(1).map((end, i) => {
        const hit = hits.find((each) => each.start <= bounds[i] && end <= each.end);
        return element("span", `${kind} ${this.style(hit)}`, text.slice(bounds[i] - start, end - start));
      });
    });
  }

  /** @param {Hit | undefined} hit */
  style(hit) {
    if (!hit) return "";
    return hit === this.hits[this.now] ? "hit now" : "hit";
  }
}
