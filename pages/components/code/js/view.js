// The view of a piece of code: its bar, its marks, and their messages to Python and to the other views of its
// channel.
import { Room } from "../../js/room.js";
import { COMMENTED, counted, element, isDark, listen, tell } from "../../js/shared.js";
import { copyText, isTyping, readLine, ticks } from "./dom.js";
import { Finder } from "./find.js";
import { Sheet } from "./sheet.js";
/** @import { Arguments, Saying, Told } from "../../js/types.d.ts" */
/** @import { CodeData } from "../../js/wire.d.ts" */
/** @typedef {"selected" | "related" | "preview"} Kind */

/** @type {Kind[]} */
const KINDS = ["selected", "related", "preview"];
/** @type {WeakMap<HTMLElement, CodeView>} */
const views = new WeakMap();
/** @type {Set<CodeView>} */
const attached = new Set();

/** @param {Arguments<CodeData>} args */
export default function (args) {
  const { parentElement, data } = args;
  const known = views.get(parentElement);
  const view = known ?? new CodeView(args);
  views.set(parentElement, view);
  view.args = args;
  view.attach();
  view.update();
  if (!known && data.initial) view.show(data.initial);
  return () => view.detach();
}

class CodeView {
  stamp = "";
  /** @type {Record<Kind, Set<number>>} */
  marked = { selected: new Set(), related: new Set(), preview: new Set() };
  /** @type {Map<string, number>} */
  byId = new Map();
  /** @type {Map<string, number[]>} */
  byLink = new Map();
  /** @type {number[]} */
  breaks = [];
  /** @type {number | null} */
  hovered = null;
  /** @type {string | null} */
  reported = null;
  /** @type {number[]} */
  down = [];
  timer = 0;
  listening = new AbortController();

  /** @param {Arguments<CodeData>} args */
  constructor(args) {
    this.args = args;
    this.root = element("div", "cv");
    this.title = element("span", "title");
    this.size = element("span", "size");
    this.copy = element("button", "copy", "Copy");
    this.ruler = element("div", "ruler");
    this.sheet = new Sheet(
      (line, index) => this.finder.pieces(line, index),
      (row, index) => KINDS.forEach((kind) => row.classList.toggle(kind, this.marked[kind].has(index))),
    );
    this.room = new Room(this.root);
    this.finder = new Finder(this.sheet, () => this.drawRuler());
    this.resize = new ResizeObserver(() =>
      this.root.style.setProperty("--view", `${this.sheet.scroller.clientWidth}px`)
    );
    this.build();
  }

  build() {
    const { scroller } = this.sheet;
    const bar = element("div", "bar");
    bar.append(this.title, this.size, element("span", "gap"), this.finder.box, this.copy);
    this.root.append(bar, scroller, this.ruler);
    this.args.parentElement.append(this.root);
    this.copy.onclick = () => this.copyAll();
    scroller.onpointerdown = (event) => (this.down = [event.clientX, event.clientY]);
    scroller.onclick = (event) => this.onClick(event);
    scroller.onkeydown = (event) => this.onArrow(event);
    scroller.onpointerover = (event) => this.hover(this.sheet.indexOf(event.target));
    scroller.onpointerleave = () => this.hover(null);
  }

  get data() {
    return this.args.data;
  }

  attach() {
    this.detach();
    attached.add(this);
    this.listening = new AbortController();
    const { signal } = this.listening;
    listen("select", (message) => this.hears(message) && this.selectElsewhere(message), signal);
    listen("comments", (commented) => this.sheet.showComments(commented), signal);
    listen("hover", (message) => this.hears(message) && this.mark("preview", this.related(message)), signal);
    globalThis.addEventListener("keydown", (event) => this.onPageKey(event), { signal });
    this.sheet.showComments(COMMENTED);
    setTimeout(() => this.ask());
    this.room.keep(this.data.height, signal);
    this.resize.observe(this.sheet.scroller);
  }

  // A view that holds the page's selection answers by sending it again.
  ask() {
    const { channel, source } = this.data;
    if (!this.marked.selected.size) tell("ask", { channel, source });
  }

  detach() {
    attached.delete(this);
    this.listening.abort();
    this.resize.disconnect();
  }

  update() {
    const { data } = this;
    this.root.dataset.theme = isDark(this.root) ? "dark" : "light";
    if (this.stamp !== data.stamp) this.draw();
    this.stamp = data.stamp;
  }

  draw() {
    const lines = this.data.lines.map(readLine);
    this.marked = { selected: new Set(), related: new Set(), preview: new Set() };
    this.hovered = null;
    this.title.textContent = this.data.title;
    this.sheet.scroller.setAttribute("aria-label", this.data.title);
    this.size.textContent = counted(lines.length, "line");
    this.root.classList.toggle("bare", !lines.some((line) => line.colours.length || line.mark));
    const widest = lines.reduce((most, line) => Math.max(most, line.text.length + (line.cut ? 30 : 0)), 0);
    const digits = String(lines.at(-1)?.number ?? 1).length;
    this.root.style.setProperty("--digits", `${digits * 7.3 + 4}px`);
    this.root.style.setProperty("--columns", `calc(${widest}ch + 90px)`);
    this.sheet.show(lines);
    this.indexLines();
    this.finder.find();
    if (!this.data.initial) requestAnimationFrame(() => this.begin());
  }

  // A long file opens at its first mark.
  begin() {
    const first = this.breaks[0] ?? this.sheet.lines.findIndex((line) => line.links.length);
    if (first >= 0 && !this.marked.selected.size && !this.marked.related.size) this.sheet.reveal(first);
  }

  indexLines() {
    this.byId = new Map();
    this.byLink = new Map();
    this.breaks = [];
    this.sheet.lines.forEach((line, index) => {
      this.byId.set(line.id, index);
      if (line.mark === "break") this.breaks.push(index);
      for (const link of line.links) this.byLink.set(link, [...(this.byLink.get(link) ?? []), index]);
    });
  }

  /** @param {Told} message @returns {Set<number>} */
  related({ id, links = [] }) {
    const names = id === null ? [] : [id, ...links];
    return new Set(names.flatMap((name) => [this.byId.get(name) ?? [], this.byLink.get(name) ?? []].flat()));
  }

  /** @param {Kind} kind @param {Set<number>} indexes */
  mark(kind, indexes) {
    const { rows } = this.sheet;
    for (const index of this.marked[kind]) if (!indexes.has(index)) rows[index]?.classList.remove(kind);
    for (const index of indexes) rows[index]?.classList.add(kind);
    this.marked[kind] = indexes;
    if (kind !== "preview") this.drawRuler();
  }

  // Send the selection or the hovered line to the other views, and highlight related lines here.
  /** @param {"select" | "hover"} name @param {number | null} index @param {boolean} [initial] */
  tell(name, index, initial = false) {
    const { channel, source } = this.data;
    const line = index === null ? undefined : this.sheet.lines[index];
    const message = { channel, source, id: line?.id ?? null, links: line?.links ?? [], initial };
    tell(name, message);
    this.mark(name === "select" ? "related" : "preview", this.related(message));
  }

  // True if a message comes from another view of the channel.
  /** @param {Saying} message */
  hears({ channel, source }) {
    return channel === this.data.channel && source !== this.data.source;
  }

  /** @param {Saying} message */
  selectElsewhere(message) {
    const lines = this.related(message);
    this.mark("selected", new Set());
    this.mark("related", lines);
    if (lines.size) this.sheet.reveal(Math.min(...lines));
  }

  /** @param {number | null} index */
  hover(index) {
    if (index === this.hovered) return;
    this.hovered = index;
    this.tell("hover", index);
  }

  /** @param {number | null} index @param {number} [wait_ms] */
  select(index, wait_ms = 0) {
    this.mark("selected", new Set(index === null ? [] : [index]));
    this.tell("select", index);
    clearTimeout(this.timer);
    const id = index === null ? null : this.sheet.lines[index].id;
    this.timer = setTimeout(() => this.report(id), wait_ms);
  }

  /** @param {string | null} id */
  report(id) {
    // The state does not change if another view had the selection in between, so a trigger reports it.
    if (id === this.reported) this.args.setTriggerValue("reselected", id);
    else this.args.setStateValue("selected", id);
    this.reported = id;
  }

  /** @param {string} id */
  show(id) {
    const index = this.byId.get(id);
    this.reported = id;
    this.mark("selected", new Set(index === undefined ? [] : [index]));
    this.mark("related", this.related({ id, links: index === undefined ? [] : this.sheet.lines[index].links }));
    const first = index ?? Math.min(...this.marked.related);
    if (Number.isFinite(first)) requestAnimationFrame(() => this.sheet.reveal(first));
    if (index !== undefined) setTimeout(() => this.tell("select", index, true));
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const moved = Math.hypot(event.clientX - this.down[0], event.clientY - this.down[1]) > 4;
    const index = this.sheet.indexOf(event.target);
    if (!moved && index !== null) this.select(this.marked.selected.has(index) ? null : index);
  }

  /** @param {KeyboardEvent} event */
  onArrow(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const [now] = this.marked.selected;
    if (!step || now === undefined || !this.sheet.lines[now + step]) return;
    event.preventDefault();
    this.select(now + step, 150);
    this.sheet.reveal(now + step);
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

  drawRuler() {
    const kinds = {
      "": [...this.marked.selected, ...this.marked.related],
      break: this.breaks,
      hit: [...this.finder.byLine.keys()],
    };
    this.ruler.replaceChildren(...ticks(kinds, this.sheet.lines.length));
  }

  async copyAll() {
    const { lines } = this.sheet;
    const text = lines.map((line) => line.text + (line.cut ? `… ${line.cut} more characters` : "")).join("\n");
    await copyText(text);
    this.copy.textContent = "Copied";
    setTimeout(() => (this.copy.textContent = "Copy"), 1500);
  }
}
