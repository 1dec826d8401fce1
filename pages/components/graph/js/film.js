// The film: each frame's nodes, added, changed and removed, and the bar to step through them. Positions never change.
import { button, cut, make } from "./dom.js";
import { isHull } from "./picture/compose.js";
import { nameByText } from "./picture/scene.js";
/** @import { FrameData, MetricsData, NodeVersion } from "../../js/wire.d.ts" */
/** @import { Turn } from "../../js/types.d.ts" */
/** @import { Intervals, Item, ItemElement, Placed } from "./types.d.ts" */
/** @import { Graph } from "./model.js" */
/** @import { Python } from "./python.js" */

const PLAY_MS = 900;
const REPORT_MS = 150;
const MOST_TICKS = 240;
const EAGER = "Eager";

/** @param {Intervals | undefined} intervals @param {number} frame */
function existsIn(intervals, frame) {
  return !intervals?.length || intervals.some(([from, to]) => from <= frame && frame < to);
}

// "now", "gone" (the last step took it), "leaving" (the next step takes it), or "absent".
/** @param {Intervals | undefined} intervals @param {number} frame */
export function fateOf(intervals, frame) {
  if (!existsIn(intervals, frame)) return frame > 0 && existsIn(intervals, frame - 1) ? "gone" : "absent";
  return existsIn(intervals, frame + 1) ? "now" : "leaving";
}

// The group that a node belongs to in a frame, an eager call's or fused nodes'; none before its first.
/** @param {Item} item @param {number} frame */
export function groupOf(item, frame) {
  return item.joins?.findLast(([from]) => from <= frame)?.[1];
}

export class Film {
  at = 0;
  timer = 0;
  later = 0;
  walked = false;
  joining = false;
  /** @type {FrameData[]} */
  frames = [];
  /** @type {{ added: Set<number>, removed: Set<number>, rewritten: Set<number>, joined: Set<number>,
   *   touched: Set<number> }[]} */
  sets = [];

  /**
   * @param {HTMLElement} parent @param {MetricsData} metrics @param {Python} python
   * @param {(staying?: boolean) => void} reframe
   */
  constructor(parent, metrics, python, reframe) {
    this.metrics = metrics;
    this.python = python;
    this.reframe = reframe;
    this.bar = make("div", { class: "film", hidden: "" }, parent);
    const controls = make("div", { class: "controls" }, this.bar);
    button(controls, "‹", "Previous step (,)", () => this.step(-1));
    this.playing = button(controls, "▶", "Play", () => this.play());
    button(controls, "›", "Next step (.)", () => this.step(1));
    const track = make("div", { class: "track" }, this.bar);
    this.ticks = make("div", { class: "ticks", "aria-hidden": "true" }, track);
    this.slider = make("input", { type: "range", min: 0, step: 1, "aria-label": "Step" }, track);
    this.slider.oninput = () => (this.stop(), this.go(Number(this.slider.value)));
    const line = make("div", { class: "line-of-step" }, this.bar);
    const words = make("div", { class: "words" }, line);
    this.count = make("span", { class: "number" }, words);
    this.title = make("b", {}, words);
    this.detail = make("span", {}, words);
    this.amounts = make("div", { class: "amounts" }, line);
  }

  /** @param {Graph} graph @param {number | null} [start] */
  over(graph, start) {
    if (this.on && graph.frames === this.frames) return;
    this.stop();
    this.walked = false;
    this.frames = graph.frames;
    this.joining = [...graph.groups.values()].some(isHull);
    this.bar.hidden = this.frames.length < 2;
    this.sets = this.frames.map((frame) => ({
      added: new Set(frame.added),
      removed: new Set(frame.removed),
      rewritten: new Set(frame.rewritten),
      joined: new Set(frame.joined),
      touched: new Set(frame.touched),
    }));
    this.slider.max = String(Math.max(0, this.frames.length - 1));
    this.drawTicks();
    this.amounts.replaceChildren();
    const names = new Set(this.frames.flatMap(({ amounts = [] }) => amounts.map(({ name }) => name)));
    for (const name of names) make("div", { class: "amount", title: name }, this.amounts);
    this.at = this.bound(start ?? this.frames.length - 1);
    this.tell();
  }

  get on() {
    return this.frames.length > 1;
  }

  // In a film of fusions, every frame before the last one: the launches are not there yet.
  get fusing() {
    return this.on && this.joining && this.at < this.frames.length - 1;
  }

  // The frame of eager's calls: the launches come later.
  get eager() {
    return this.fusing && this.frames[this.at].title === EAGER;
  }

  /** @param {number} frame */
  bound(frame) {
    return Math.min(Math.max(0, this.frames.length - 1), Math.max(0, frame));
  }

  drawTicks() {
    const every = Math.ceil(this.frames.length / MOST_TICKS);
    this.ticks.replaceChildren();
    this.frames.forEach((frame, index) => {
      const { added, removed, rewritten, joined = [], touched = [] } = frame;
      const changes = [added, removed, rewritten, joined, touched].flat().length;
      if (index % every && !changes && !frame.missing) return;
      const share = index / Math.max(1, this.frames.length - 1);
      const height = changes ? Math.min(12, 4 + 2 * Math.log2(changes + 1)) : 3;
      make("i", {
        class: changes ? "change" : frame.missing ? "missing" : "",
        style: `left: ${(share * 100).toFixed(3)}%; height: ${height.toFixed(1)}px`,
      }, this.ticks);
    });
  }

  /** @param {number} frame @param {boolean} [quiet] */
  go(frame, quiet) {
    if (!this.on || this.bound(frame) === this.at) return;
    this.at = this.bound(frame);
    this.walked = true;
    this.tell();
    this.reframe(quiet);
    if (quiet) return;
    clearTimeout(this.later);
    this.python.outdate();
    this.later = setTimeout(() => this.python.report("frame", this.at), REPORT_MS);
  }

  /** @param {number} by */
  step(by) {
    this.stop();
    this.go(this.at + by);
  }

  // A film at its last frame, without any step shown yet, is presented from its first frame on.
  /** @param {Turn} turn */
  turn(turn) {
    if (turn.taken || !this.on) return;
    const presented = turn.by < 0 || this.walked || this.at < this.frames.length - 1;
    const next = presented ? this.bound(this.at + turn.by) : 0;
    if (next === this.at) return;
    turn.taken = true;
    this.stop();
    this.go(next);
  }

  play() {
    if (this.timer) return this.stop();
    if (this.at === this.frames.length - 1) this.go(0);
    this.playing.textContent = "❚❚";
    this.timer = setInterval(() => (this.at < this.frames.length - 1 ? this.go(this.at + 1) : this.stop()), PLAY_MS);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.playing.textContent = "▶";
  }

  tell() {
    if (!this.on) return;
    const { title, detail, amounts = [], missing } = this.frames[this.at];
    this.slider.value = String(this.at);
    this.count.textContent = `${this.at} / ${this.frames.length - 1}`;
    this.title.textContent = title;
    this.detail.textContent = detail;
    this.detail.title = detail;
    this.bar.classList.toggle("missing", Boolean(missing));
    const texts = amounts.map(({ text }) => text).join(", ");
    this.slider.setAttribute("aria-valuetext", [title, detail, texts].filter(Boolean).join(". "));
    for (const meter of /** @type {Iterable<HTMLElement>} */ (this.amounts.children)) {
      const amount = amounts.find(({ name }) => name === meter.title);
      meter.textContent = amount?.text ?? "–";
      meter.style.setProperty("--share", String(amount?.share ?? 0));
    }
    this.slider.style.setProperty("--done", `${(100 * this.at) / Math.max(1, this.frames.length - 1)}%`);
  }

  // Edges are shown or hidden; a box that the last step removed stays as a ghost.
  /** @param {{ id?: string, f?: Intervals }} thing */
  shows(thing) {
    if (!this.on) return true;
    const fate = fateOf(thing.f, this.at);
    return fate !== "absent" && (fate !== "gone" || thing.id !== undefined);
  }

  /** @param {Set<number>} set @param {Item} item */
  countIn(set, item) {
    if (item.g === undefined) return set.has(item.i) ? 1 : 0;
    let count = 0;
    for (const node of set) if (node >= item.from && node < item.to) count += 1;
    return count;
  }

  // True if a fusion of this step puts the op, or one of a folded group's ops, into another group.
  /** @param {Item} item */
  joins(item) {
    const joined = this.sets[this.at]?.joined;
    return Boolean(joined?.size && this.countIn(joined, item));
  }

  // True if a fusion of this step has another loop of the op.
  /** @param {Item} item */
  touches(item) {
    const touched = this.sets[this.at]?.touched;
    return Boolean(touched?.size && this.countIn(touched, item));
  }

  // The boxes that this step changes; of a fusion, all ops of the groups that it joins, first those with another group.
  /** @param {Placed[]} items */
  changed(items) {
    const { added, removed, rewritten } = this.sets[this.at];
    const joined = items.filter(({ item, open }) => !open && this.joins(item));
    const fused = [...joined, ...items.filter(({ item, open }) => !open && this.touches(item))];
    const boxes = fused.length || added.size || removed.size || rewritten.size ? items.filter(({ open }) => !open) : [];
    const keys = new Set(joined.flatMap(({ item }) => groupOf(item, this.at) ?? []));
    const together = keys.size ? boxes.filter(({ item }) => keys.has(groupOf(item, this.at) ?? "")) : [];
    const sets = [added, removed, rewritten].filter((set) => set.size);
    const others = sets.length ? boxes.filter(({ item }) => sets.some((set) => this.countIn(set, item))) : [];
    return [...new Set([...fused, ...together, ...others])];
  }

  // What this frame shows of a box: its classes, and the text of its badge.
  /** @param {Placed} placed @returns {[string[], string]} */
  signsOf({ item, open }) {
    if (!this.on || open) return [[], ""];
    const fate = fateOf(item.f, this.at);
    const { added, removed, rewritten } = this.sets[this.at];
    const [came, changed] = [this.countIn(added, item), this.countIn(rewritten, item)];
    const went = item.g === undefined ? 0 : this.countIn(removed, item);
    const told = [["+", came], ["−", went], ["~", changed]].filter(([, number]) => number);
    const classes = [
      fate === "gone" || (fate === "leaving" && this.at < this.frames.length - 1) ? fate : "",
      came ? "added" : changed || went ? "rewritten" : "",
      this.joins(item) || this.touches(item) ? "joined" : "",
    ];
    const sign = item.g === undefined ? told.slice(0, 1).map(([name]) => name) : told.map((pair) => pair.join(""));
    return [classes.filter(Boolean), sign.join(" ")];
  }

  // Show this frame on a box, unless it shows the same already.
  /** @param {ItemElement} element @param {Placed} placed */
  dress(element, placed) {
    const [classes, sign] = this.signsOf(placed);
    const { versions } = placed.item;
    const version = this.on && !placed.open && versions ? this.versionOf(placed.item) ?? versions[0] : undefined;
    const step = [...classes, sign, version?.[0] ?? ""].join(" ").trim();
    if (step === (element.step ?? "")) return;
    element.step = step;
    const old = element.querySelector(":scope > .badge");
    old?.remove();
    element.classList.remove("added", "rewritten", "gone", "leaving", "joined");
    element.classList.add(...classes);
    if (version) this.retell(element, version);
    if (sign) badge(element, sign);
    if (old || sign || version) nameByText(element);
  }

  // The texts of a node in this frame, as [first frame, label, detail, tooltip], if they change.
  /** @param {Item} item */
  versionOf(item) {
    return this.on ? item.versions?.findLast(([from]) => from <= this.at) : undefined;
  }

  /** @param {ItemElement} element @param {NodeVersion} version */
  retell(element, [, label, detail]) {
    const { metrics: m } = this;
    const room = element.placed.w - 2 * m.padX;
    const name = element.querySelector(":scope > .label");
    if (name) name.textContent = cut(label, room, m.labelChar);
    const line = element.querySelector(":scope > .detail");
    if (line) line.textContent = cut(detail, room, m.smallChar);
  }
}

// Before the other texts, as it is seen: of a box at the edge of the view, the last lines may be out of sight.
/** @param {Element} element @param {string} text */
function badge(element, text) {
  const g = make("g", { class: "badge", transform: "translate(-8 -8)" });
  element.insertBefore(g, element.querySelector(":scope > :is(text, .number)"));
  make("rect", { width: 9 + 7 * text.length, height: 16, rx: 8 }, g);
  make("text", { x: (9 + 7 * text.length) / 2, y: 12, "text-anchor": "middle" }, g, text);
}
