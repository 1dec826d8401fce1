// The lines in the document: chunks that are filled when they come near the visible part. All text is set as text,
// never as markup.
import { COMMENTED, element } from "../../js/shared.js";
import { bands, noteOf } from "./dom.js";
/** @import { Commented } from "../../js/types.d.ts" */
/** @import { CodeLine } from "./dom.js" */

const CHUNK = 100;
const LINE_PX = 20;
const NOTE_PX = 18;
const GUTTER_PX = 90;
const SIGNS = { "": "", break: "✕", info: "i", ok: "✓" };

export class Sheet {
  /** @type {CodeLine[]} */
  lines = [];
  /** @type {HTMLElement[]} */
  rows = [];
  /** @type {Commented} */
  comments = COMMENTED;

  // A line's text comes in `pieces`; `dress` marks its row.
  /**
   * @param {(line: CodeLine, index: number) => HTMLElement[]} pieces
   * @param {(row: HTMLElement, index: number) => void} dress
   */
  constructor(pieces, dress) {
    this.pieces = pieces;
    this.dress = dress;
    this.content = element("div", "content");
    this.scroller = element("div", "scroller");
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute("role", "listbox");
    this.scroller.append(this.content);
    this.observer = new IntersectionObserver((seen) => this.fillSeen(seen), {
      root: this.scroller,
      rootMargin: "900px 0px",
    });
  }

  /** @param {CodeLine[]} lines */
  show(lines) {
    this.lines = lines;
    this.rows = [];
    this.observer.disconnect();
    this.scroller.scrollTo(0, 0);
    this.content.replaceChildren(...this.chunks());
  }

  chunks() {
    if (!this.lines.length) return [element("div", "empty", "There is no code here.")];
    return Array.from({ length: Math.ceil(this.lines.length / CHUNK) }, (_, number) => {
      const chunk = element("div", "chunk");
      const lines = this.lines.slice(number * CHUNK, (number + 1) * CHUNK);
      const notes = lines.reduce((sum, line) => sum + (line.note ? 14 + NOTE_PX * line.note.split("\n").length : 0), 0);
      chunk.style.minHeight = `${lines.length * LINE_PX + notes}px`;
      chunk.style.containIntrinsicHeight = `auto ${chunk.style.minHeight}`;
      chunk.dataset.number = String(number);
      this.observer.observe(chunk);
      return chunk;
    });
  }

  /** @param {IntersectionObserverEntry[]} entries */
  fillSeen(entries) {
    for (const entry of entries) if (entry.isIntersecting) this.fill(/** @type {HTMLElement} */ (entry.target));
  }

  /** @param {HTMLElement} chunk */
  fill(chunk) {
    if (chunk.childElementCount) return;
    this.observer.unobserve(chunk);
    chunk.style.minHeight = "";
    const start = Number(chunk.dataset.number) * CHUNK;
    const lines = this.lines.slice(start, start + CHUNK);
    chunk.append(...lines.flatMap((line, offset) => this.drawLine(line, start + offset)));
  }

  /** @param {CodeLine} line @param {number} index */
  drawLine(line, index) {
    const row = element("div", `line ${line.mark}`);
    const gutter = element("span", "gutter");
    const kernel = element("span", "kernel");
    if (line.colours.length) kernel.style.background = bands(line.colours);
    gutter.append(
      kernel,
      element("span", `sign ${line.mark}`, SIGNS[line.mark]),
      element("span", "number", line.number),
    );
    row.append(gutter, element("span", "text"));
    row.dataset.index = String(index);
    row.setAttribute("role", "option");
    if (line.tooltip) row.title = line.tooltip;
    this.rows[index] = row;
    this.drawText(index);
    this.dress(row, index);
    this.sign(row, line.id);
    return line.note ? [row, noteOf(line)] : [row];
  }

  /** @param {Commented} commented */
  showComments(commented) {
    this.comments = commented;
    this.rows.forEach((row, index) => this.sign(row, this.lines[index].id));
  }

  /** @param {HTMLElement} row @param {string} id */
  sign(row, id) {
    row.classList.toggle("commented", this.comments.commented.includes(id));
    row.classList.toggle("pinned", this.comments.pinned.includes(id));
    row.ariaDescription = row.classList.contains("commented") ? "has comments" : null;
  }

  /** @param {number} index */
  drawText(index) {
    const line = this.lines[index];
    const text = this.rows[index]?.lastElementChild;
    text?.replaceChildren(...this.pieces(line, index));
    if (line.cut) text?.append(element("span", "cut", `… ${line.cut.toLocaleString("en")} more characters`));
  }

  // The line that an element belongs to.
  /** @param {EventTarget | null} target */
  indexOf(target) {
    const row = target instanceof Element ? target.closest(".line") : null;
    return row ? Number(row.getAttribute("data-index")) : null;
  }

  /** @param {number} index @param {string} [part] */
  reveal(index, part) {
    this.fill(/** @type {HTMLElement} */ (this.content.children[Math.floor(index / CHUNK)]));
    const row = this.rows[index];
    const box = this.scroller.getBoundingClientRect();
    this.revealAcross(part ? row.querySelector(part) : null, box);
    const top = row.getBoundingClientRect().top - box.top;
    if (top >= LINE_PX && top <= box.height - 3 * LINE_PX) return;
    const near = Math.abs(top) < 3 * box.height && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.scroller.scrollBy({ top: top - box.height / 3, behavior: near ? "smooth" : "instant" });
    if (!near) requestAnimationFrame(() => this.settle(row));
  }

  /** @param {Element | null} part @param {DOMRect} box */
  revealAcross(part, box) {
    if (!part) return;
    const { left, right } = part.getBoundingClientRect();
    if (left < box.left + GUTTER_PX || right > box.right) this.scroller.scrollLeft += left - box.left - box.width / 2;
  }

  // The chunks in between get their true height only now.
  /** @param {Element} row */
  settle(row) {
    const box = this.scroller.getBoundingClientRect();
    this.scroller.scrollBy({ top: row.getBoundingClientRect().top - box.top - box.height / 3, behavior: "instant" });
  }
}
