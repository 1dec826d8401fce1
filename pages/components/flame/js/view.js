// An interactive flame chart: it zooms, pans, searches, and reports the selected span.
import { element, isDark } from "../../js/shared.js";
import { allRows } from "./area.js";
import { tellOf } from "./detail.js";
import { FlameFinder } from "./find.js";
import { Glide } from "./glide.js";
import { Lens } from "./lens.js";
import { AXIS, paint, ROW_HEIGHT, sheetOn } from "./paint.js";
import { Pointer } from "./pointer.js";
import { BEGIN, ID, LENGTH, ROW, Rows } from "./rows.js";
/** @import { Area } from "./area.js" */
/** @import { Arguments } from "../../js/types.d.ts" */
/** @import { FlameData, FlameSpan } from "../../js/wire.d.ts" */

const MOST_ROWS = 26;
const TYPED_INTO = "input, textarea, select, [contenteditable='true'], [role='combobox']";
const CLOSER = 1.5;
const ASIDE = 0.15;
/** @type {Record<string, (view: FlameView) => void>} */
const KEYS = {
  w: (view) => view.zoom(CLOSER),
  "+": (view) => view.zoom(CLOSER),
  s: (view) => view.zoom(1 / CLOSER),
  "-": (view) => view.zoom(1 / CLOSER),
  a: (view) => view.pan(-ASIDE),
  d: (view) => view.pan(ASIDE),
  f: (view) => view.fit(),
  0: (view) => view.fit(),
  m: (view) => view.data.areas && view.chooseArea(view.areaInView()),
  Enter: (view) => view.chosen && view.glideTo(...view.lens.around(view.chosen[BEGIN], view.chosen[LENGTH])),
};
/** @type {WeakMap<HTMLElement, FlameView>} */
const views = new WeakMap();

/** @param {Arguments<FlameData>} args */
export default function (args) {
  const known = views.get(args.parentElement);
  const view = known ?? new FlameView(args);
  views.set(args.parentElement, view);
  view.update(args);
  return () => view.detach();
}

export class FlameView {
  lens = new Lens();
  rows = new Rows([], 0);
  /** @type {FlameSpan | null} */
  chosen = null;
  /** @type {Area | null} */
  area = null;
  selecting = false;
  drawing = 0;
  glide = new Glide();
  sent = "";
  listening = new AbortController();

  /** @param {Arguments<FlameData>} args */
  constructor(args) {
    this.args = args;
    this.root = element("div", "flame");
    this.stage = element("div", "stage");
    this.canvas = element("canvas", "");
    this.tip = element("div", "tip");
    this.line = element("div", "detail");
    this.legend = element("div", "legend");
    this.finder = new FlameFinder(() => this.draw(), (span) => this.goTo(span), () => this.stage.focus());
    this.resize = new ResizeObserver(() => this.draw());
    this.build();
    this.pointer = new Pointer(this);
    Object.assign(this.root, { compileboardFlame: this });
  }

  get data() {
    return this.args.data;
  }

  build() {
    const bar = element("div", "bar");
    /** @type {[string, string, () => void][]} */
    const buttons = [
      ["−", "Zoom out (s)", () => this.zoom(1 / CLOSER, 0.5)],
      ["+", "Zoom in (w)", () => this.zoom(CLOSER, 0.5)],
      ["Fit", "Fit all (f)", () => this.fit()],
    ];
    bar.append(this.finder.box);
    for (const [label, title, act] of buttons) {
      const button = element("button", "tool", label);
      [button.title, button.onclick] = [title, act];
      button.setAttribute("aria-label", title);
      bar.append(button);
    }
    bar.append(...(this.data.areas ? [this.selector()] : []), this.legend);
    this.stage.tabIndex = 0;
    this.stage.setAttribute("role", "application");
    const label = `Flame chart, each box a ${this.data.noun}. Arrows walk, W S zoom, A D move, f fits.`;
    this.stage.setAttribute("aria-label", label);
    this.line.setAttribute("aria-live", "polite");
    this.tip.hidden = true;
    this.stage.append(this.canvas, this.tip);
    this.stage.ondblclick = () => KEYS.Enter(this);
    this.stage.onkeydown = (event) => this.onKey(event);
    this.root.append(bar, this.line, this.stage);
    this.args.parentElement.append(this.root);
  }

  // The button that makes a drag select an area, as one with Shift does.
  selector() {
    const button = element("button", "tool", "Select area");
    button.title = "A drag selects an area, as Shift+drag does (M: what is in view)";
    button.setAttribute("aria-pressed", "false");
    button.onclick = () => {
      this.selecting = !this.selecting;
      button.setAttribute("aria-pressed", String(this.selecting));
      this.stage.classList.toggle("selecting", this.selecting);
    };
    return button;
  }

  /** @param {Arguments<FlameData>} args */
  update(args) {
    this.args = args;
    this.detach();
    this.listening = new AbortController();
    globalThis.addEventListener("keydown", (event) => this.onPageKey(event), { signal: this.listening.signal });
    this.resize.observe(this.stage);
    const { data } = args;
    const digest = `${data.spans.length} ${data.length_us} ${data.spans[0]?.[ID]} ${data.spans.at(-1)?.[ID]}`;
    if (digest !== this.sent) this.show(digest);
    this.draw();
  }

  detach() {
    this.listening.abort();
    this.resize.disconnect();
  }

  // The search key works anywhere on the page, except in text fields.
  /** @param {KeyboardEvent} event */
  onPageKey(event) {
    const typing = event.composedPath().some((part) => part instanceof Element && part.matches(TYPED_INTO));
    if (event.key !== "/" || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing) return;
    event.preventDefault();
    this.finder.focus();
  }

  /** @param {string} digest */
  show(digest) {
    const { data } = this;
    const first = this.sent === "";
    this.sent = digest;
    const count = data.rows + data.threads;
    this.rows = new Rows(data.spans, count);
    this.lens.over(data.length_us);
    this.stage.style.height = `${AXIS + Math.min(MOST_ROWS, Math.max(1, count)) * ROW_HEIGHT + 4}px`;
    const wanted = first ? data.initial : this.chosen?.[ID];
    this.chosen = this.rows.byId.get(wanted ?? "") ?? null;
    this.area = first ? data.area : this.area;
    this.drawLegend();
    this.finder.over(data);
    this.tellOfChosen();
  }

  drawLegend() {
    const used = new Set(this.data.names.map((name) => name.kind));
    const items = Object.entries(this.data.legend).filter(([kind]) => used.has(kind));
    this.legend.replaceChildren(...items.map(([, look]) => {
      const item = element("span", "", look.label);
      item.style.setProperty("--light", look.light);
      item.style.setProperty("--dark", look.dark);
      return item;
    }));
  }

  draw() {
    this.drawing ||= requestAnimationFrame(() => {
      this.drawing = 0;
      this.paint();
    });
  }

  paint() {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (!width || !this.sent) return;
    const style = getComputedStyle(this.root);
    const dark = isDark(this.root);
    this.root.classList.toggle("dark", dark);
    const look = {
      ink: style.color,
      paper: style.getPropertyValue("--st-background-color") || "#fff",
      line: style.getPropertyValue("--st-border-color") || "#ddd",
      accent: style.getPropertyValue("--st-primary-color") || "#44c",
      font: style.getPropertyValue("--st-code-font") || "monospace",
      dark,
    };
    const { data, rows, lens, area } = this;
    const selected = this.chosen?.[ID] ?? null;
    paint(sheetOn(this.canvas, width, height, look), { data, rows, lens, selected, area, hits: this.finder.names });
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (event.key.startsWith("Arrow")) this.walk(event.key);
    else if (event.key === "Escape" && this.area) this.chooseArea(null);
    else if (event.key === "Escape" && this.chosen) this.choose(null);
    else if (act) act(this);
    else return;
    event.preventDefault();
  }

  /** @param {string} key */
  walk(key) {
    const next = this.chosen ? this.rows.step(this.chosen, key) : this.rows.rows.find((row) => row.length)?.[0];
    if (next) this.goTo(next);
  }

  /** @param {FlameSpan | null} span */
  choose(span) {
    this.chosen = span;
    this.tellOfChosen();
    this.draw();
    this.args.setStateValue("selected", span?.[ID] ?? null);
  }

  // Draw an area while it is dragged.
  /** @param {Area | null} area */
  mark(area) {
    this.area = area;
    this.draw();
  }

  /** @param {Area | null} area */
  chooseArea(area) {
    this.mark(area);
    this.args.setStateValue("area", area);
  }

  // The time of the selected span, or what is in view, over all rows.
  areaInView() {
    const { chosen, lens, rows } = this;
    const [from, to] = chosen ? [chosen[BEGIN], chosen[BEGIN] + chosen[LENGTH]] : [lens.from, lens.to];
    return allRows(from, to, lens.whole, rows);
  }

  tellOfChosen() {
    tellOf(this.line, this.data, this.chosen, (link, owner) => this.args.setTriggerValue("opened", [link, owner]));
  }

  // Select a span and bring it into view, only as far as needed: it may be outside, or too thin to see.
  /** @param {FlameSpan} span */
  goTo(span) {
    const { lens, stage } = this;
    this.choose(span);
    const y = span[ROW] * ROW_HEIGHT;
    const seen = stage.clientHeight - AXIS - ROW_HEIGHT;
    if (y < lens.top || y > lens.top + seen) lens.top = Math.min(Math.max(0, y - seen / 2), this.overflow());
    const [begin, length] = [span[BEGIN], span[LENGTH]];
    const thin = (length / lens.length) * stage.clientWidth < 3;
    if (thin) this.glideTo(...lens.around(begin - length * 20, length * 41));
    else if (begin < lens.from || begin + length > lens.to) {
      this.glideTo(begin + length / 2 - Math.max(lens.length, length) / 2, Math.max(lens.length, length));
    }
  }

  /** @param {number} factor @param {number} [at] */
  zoom(factor, at = this.pointer.part) {
    this.stopGliding();
    this.lens.zoom(factor, at);
    this.draw();
  }

  // Pan by a fraction of the visible range, and by pixels vertically.
  /** @param {number} part @param {number} [down] */
  pan(part, down = 0) {
    this.stopGliding();
    this.lens.pan(part);
    this.lens.top = Math.min(Math.max(0, this.lens.top + down), this.overflow());
    this.draw();
  }

  overflow() {
    const rows = this.rows.rows.length * ROW_HEIGHT + AXIS + 4;
    return Math.max(0, rows - this.stage.clientHeight);
  }

  fit() {
    this.lens.top = 0;
    this.glideTo(0, this.lens.whole);
  }

  stopGliding() {
    this.glide.stop();
  }

  /** @param {number} from @param {number} length */
  glideTo(from, length) {
    this.glide.to(this.lens, from, length, () => this.paint());
  }
}
