// Draws code line by line, only near what is in view. All text is set as text, never as markup.
import { counted, element, EVENTS, isDark, tell } from "../../js/shared.js";
import { bands, copyText, isTyping, noteOf, readLine, ticks } from "./dom.js";
import { Finder } from "./find.js";
/** @import { CodeData } from "../../js/wire.d.ts" */
/** @import { CodeLine } from "./dom.js" */

const CHUNK = 100;
const LINE_PX = 20;
const NOTE_PX = 18;
const GUTTER_PX = 90;
const SIGNS = { break: "✕", info: "i", ok: "✓" };
/** @type {WeakMap<HTMLElement, CodeView>} */
const views = new WeakMap();
// Every instance may have a module of its own.
/** @type {Set<CodeView>} */
const attached = (/** @type {any} */ (globalThis)[Symbol.for("compileboard.codeViews")] ??= new Set());

/** @param {Arguments} args */
export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const view = views.get(parentElement) ?? new CodeView(parentElement);
  views.set(parentElement, view);
  view.send = (name, value) => (name === "selected" ? setStateValue : setTriggerValue)(name, value);
  view.attach();
  view.update(data);
  return () => view.detach();
}

/** @typedef {"selected" | "related" | "preview"} Kind */
/** @typedef {{ channel: string, source: string, id: string | null, links: string[] }} Saying */
/**
 * @typedef {object} Arguments
 * @property {CodeData} data
 * @property {HTMLElement} parentElement
 * @property {(name: string, value: unknown) => void} setStateValue
 * @property {(name: string, value: unknown) => void} setTriggerValue
 */

export class CodeView {
  /** @type {CodeData} */
  data;

  /** @type {CodeLine[]} */
  lines;

  /** @type {HTMLElement[]} */
  rows;

  /** @type {Record<Kind, Set<number>>} */
  marked;

  /** @type {string | null} */
  reported;

  /** @type {(name: string, value: unknown) => void} */
  send;

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.root = element("div", "cv");
    this.title = element("span", "title");
    this.size = element("span", "size");
    this.copy = element("button", "copy", "Copy");
    this.scroller = element("div", "scroller");
    this.content = element("div", "content");
    this.ruler = element("div", "ruler");
    this.finder = new Finder(this);
    this.build(parent);
    this.observer = new IntersectionObserver((seen) => this.fillSeen(seen), {
      root: this.scroller,
      rootMargin: "900px 0px",
    });
  }

  /** @param {HTMLElement} parent */
  build(parent) {
    const bar = element("div", "bar");
    bar.append(this.title, this.size, element("span", "gap"), this.finder.box, this.copy);
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute("role", "listbox");
    this.scroller.append(this.content);
    this.root.append(bar, this.scroller, this.ruler);
    parent.append(this.root);
    this.copy.onclick = () => this.copyAll();
    this.scroller.onpointerdown = (event) => (this.down = [event.clientX, event.clientY]);
    this.scroller.onclick = (event) => this.onClick(event);
    this.scroller.onkeydown = (event) => this.onArrow(event);
    this.scroller.onpointerover = (event) => this.hover(this.indexOf(event.target));
    this.scroller.onpointerleave = () => this.hover(null);
  }

  attach() {
    this.detach();
    attached.add(this);
    this.listeners = new AbortController();
    const options = { signal: this.listeners.signal };
    globalThis.addEventListener(
      EVENTS.select,
      (event) => this.onBus(/** @type {CustomEvent} */ (event).detail, "related"),
      options,
    );
    globalThis.addEventListener(
      EVENTS.hover,
      (event) => this.onBus(/** @type {CustomEvent} */ (event).detail, "preview"),
      options,
    );
    globalThis.addEventListener("keydown", (event) => this.onPageKey(event), options);
    setTimeout(() => this.ask());
    this.resize = new ResizeObserver(() => this.root.style.setProperty("--view", `${this.scroller.clientWidth}px`));
    this.resize.observe(this.scroller);
  }

  // A view that holds the selection of the page answers by telling it again.
  ask() {
    if (!this.data || this.marked.selected.size) return;
    const { channel, source } = this.data;
    tell(EVENTS.ask, { channel, source });
  }

  detach() {
    attached.delete(this);
    this.listeners?.abort();
    this.resize?.disconnect();
  }

  /** @param {CodeData} data */
  update(data) {
    this.root.dataset.theme = isDark(this.root) ? "dark" : "light";
    this.root.style.height = `${data.height}px`;
    const first = this.data === undefined;
    const same = this.data?.stamp === data.stamp;
    this.data = data;
    if (!same) this.draw();
    if (first && data.initial) this.show(data.initial);
  }

  draw() {
    this.lines = this.data.lines.map(readLine);
    this.rows = [];
    this.marked = { selected: new Set(), related: new Set(), preview: new Set() };
    this.hovered = null;
    this.indexLines();
    this.title.textContent = this.data.title;
    this.scroller.setAttribute("aria-label", this.data.title);
    this.size.textContent = counted(this.lines.length, "line");
    this.root.classList.toggle("bare", !this.lines.some((line) => line.colours.length || line.mark));
    const widest = this.lines.reduce((most, line) => Math.max(most, line.text.length + (line.cut ? 30 : 0)), 0);
    const digits = String(this.lines.at(-1)?.number ?? 1).length;
    this.root.style.setProperty("--digits", `${digits * 7.3 + 4}px`);
    this.root.style.setProperty("--columns", `calc(${widest}ch + 90px)`);
    this.observer.disconnect();
    this.scroller.scrollTo(0, 0);
    this.content.replaceChildren(...this.chunks());
    this.finder.find();
  }

  indexLines() {
    /** @type {Map<string, number>} */
    this.byId = new Map();
    /** @type {Map<string, number[]>} */
    this.byLink = new Map();
    /** @type {number[]} */
    this.breaks = [];
    this.lines.forEach((line, index) => {
      this.byId.set(line.id, index);
      if (line.mark === "break") this.breaks.push(index);
      for (const link of line.links) this.byLink.set(link, [...(this.byLink.get(link) ?? []), index]);
    });
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
      element("span", `sign ${line.mark}`, SIGNS[line.mark] ?? ""),
      element("span", "number", line.number),
    );
    row.append(gutter, element("span", "text"));
    row.dataset.index = String(index);
    row.setAttribute("role", "option");
    if (line.tooltip) row.title = line.tooltip;
    this.rows[index] = row;
    this.drawText(index);
    for (const kind in this.marked) row.classList.toggle(kind, this.marked[kind].has(index));
    return line.note ? [row, noteOf(line)] : [row];
  }

  /** @param {number} index */
  drawText(index) {
    if (!this.rows[index]) return;
    const line = this.lines[index];
    const text = this.rows[index].lastElementChild;
    text.replaceChildren(...this.finder.pieces(line, index));
    if (line.cut) text.append(element("span", "cut", `… ${line.cut.toLocaleString("en")} more characters`));
  }

  /** @param {any} target */
  indexOf(target) {
    const row = target.closest?.(".line");
    return row ? Number(row.dataset.index) : null;
  }

  /** @param {{ id: string | null, links?: string[] }} told @returns {Set<number>} */
  related({ id, links }) {
    const found = new Set();
    if (id === null) return found;
    for (const name of [id, ...(links ?? [])]) {
      if (this.byId.has(name)) found.add(this.byId.get(name));
      for (const index of this.byLink.get(name) ?? []) found.add(index);
    }
    return found;
  }

  /** @param {Kind} kind @param {Set<number>} indexes */
  mark(kind, indexes) {
    for (const index of this.marked[kind]) if (!indexes.has(index)) this.rows[index]?.classList.remove(kind);
    for (const index of indexes) this.rows[index]?.classList.add(kind);
    this.marked[kind] = indexes;
    if (kind !== "preview") this.drawRuler();
  }

  /** @param {string} name @param {number | null} index */
  dispatch(name, index) {
    const line = this.lines[index];
    const detail = {
      channel: this.data.channel,
      source: this.data.source,
      id: line?.id ?? null,
      links: line?.links ?? [],
    };
    tell(name, detail);
    return detail;
  }

  /** @param {Saying} detail @param {"related" | "preview"} kind */
  onBus(detail, kind) {
    if (detail.channel !== this.data.channel || detail.source === this.data.source) return;
    const found = this.related(detail);
    if (kind === "related") this.mark("selected", new Set());
    this.mark(kind, found);
    if (kind === "related" && found.size) this.reveal(Math.min(...found));
  }

  /** @param {number | null} index */
  hover(index) {
    if (index === this.hovered) return;
    this.hovered = index;
    this.mark("preview", this.related(this.dispatch(EVENTS.hover, index)));
  }

  /** @param {number | null} index @param {number} [wait_ms] */
  select(index, wait_ms = 0) {
    this.mark("selected", new Set(index === null ? [] : [index]));
    this.mark("related", this.related(this.dispatch(EVENTS.select, index)));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.report(this.lines[index]?.id ?? null), wait_ms);
  }

  /** @param {string | null} id */
  report(id) {
    // The state does not change when another view had the selection in between, so a trigger says it.
    this.send(id === this.reported ? "reselected" : "selected", id);
    this.reported = id;
  }

  /** @param {string} id */
  show(id) {
    const index = this.byId.get(id);
    const detail = { id, links: this.lines[index]?.links ?? [] };
    this.reported = id;
    this.mark("selected", new Set(index === undefined ? [] : [index]));
    this.mark("related", this.related(detail));
    const first = index ?? Math.min(...this.marked.related);
    if (Number.isFinite(first)) requestAnimationFrame(() => this.reveal(first));
    if (index !== undefined) setTimeout(() => this.dispatch(EVENTS.select, index));
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const moved = Math.hypot(event.clientX - this.down?.[0], event.clientY - this.down?.[1]) > 4;
    const index = this.indexOf(event.target);
    if (!moved && index !== null) this.select(this.marked.selected.has(index) ? null : index);
  }

  /** @param {KeyboardEvent} event */
  onArrow(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const [now] = this.marked.selected;
    if (!step || now === undefined || !this.lines[now + step]) return;
    event.preventDefault();
    this.select(now + step, 150);
    this.reveal(now + step);
  }

  /** @param {KeyboardEvent} event */
  onPageKey(event) {
    if (event.defaultPrevented || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && this.marked.selected.size) this.select(null);
    if (event.key === "/" && this.isForFind()) {
      event.preventDefault();
      this.finder.focus();
    }
  }

  isForFind() {
    const inView = [...attached].filter((view) => view.isInView());
    const pointed = inView.find((view) => view.root.matches(":hover"));
    return this === (pointed ?? inView.find((view) => view.root.matches(":focus-within")) ?? inView[0]);
  }

  isInView() {
    const box = this.root.getBoundingClientRect();
    return box.height > 0 && box.bottom > 0 && box.top < globalThis.innerHeight;
  }

  /** @param {number} index @param {string} [part] */
  reveal(index, part) {
    this.fill(/** @type {HTMLElement} */ (this.content.children[Math.floor(index / CHUNK)]));
    const row = this.rows[index];
    const box = this.scroller.getBoundingClientRect();
    this.revealAcross(part && row.querySelector(part), box);
    const top = row.getBoundingClientRect().top - box.top;
    if (top >= LINE_PX && top <= box.height - 3 * LINE_PX) return;
    const near = Math.abs(top) < 3 * box.height && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.scroller.scrollBy({ top: top - box.height / 3, behavior: near ? "smooth" : "instant" });
    if (!near) requestAnimationFrame(() => this.settle(row));
  }

  /** @param {Element | null | undefined | ""} part @param {DOMRect} box */
  revealAcross(part, box) {
    if (!part) return;
    const { left, right } = part.getBoundingClientRect();
    if (left < box.left + GUTTER_PX || right > box.right) this.scroller.scrollLeft += left - box.left - box.width / 2;
  }

  // The chunks on the way have only now their true height.
  /** @param {Element} row */
  settle(row) {
    const box = this.scroller.getBoundingClientRect();
    this.scroller.scrollBy({ top: row.getBoundingClientRect().top - box.top - box.height / 3, behavior: "instant" });
  }

  drawRuler() {
    const kinds = {
      "": [...this.marked.selected, ...this.marked.related],
      break: this.breaks,
      hit: [...this.finder.byLine.keys()],
    };
    this.ruler.replaceChildren(...ticks(kinds, this.lines.length));
  }

  async copyAll() {
    const text = this.lines.map((line) => line.text + (line.cut ? `… ${line.cut} more characters` : "")).join("\n");
    await copyText(text);
    this.copy.textContent = "Copied";
    setTimeout(() => (this.copy.textContent = "Copy"), 1500);
  }
}
