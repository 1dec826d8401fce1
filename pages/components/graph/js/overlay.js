// The meaning of colours: classes of ops at first, or one of the overlays; and, on request, the value as a bar in
// each box.
import { figure } from "../../js/words.js";
import { button, make, opClass } from "./dom.js";
import { glyph } from "./icons.js";
import { legendOfLaunches } from "./legend.js";
/** @import { OverlayData } from "../../js/wire.d.ts" */
/** @import { Inks, Item, ItemElement, Paints, Picture, Placed, Scale } from "./types.d.ts" */
/** @import { Graph } from "./model.js" */
/** @import { Python } from "./python.js" */

// Cividis (Nuñez, Anderton, Renslow 2018) goes from blue to yellow for every kind of sight; the large end is far
// from the paper.
const RAMP = [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]];
const DECADES = 100;

/** @param {number} share @param {boolean} dark */
function rampColour(share, dark) {
  const t = (dark ? 0.12 + 0.88 * share : 0.94 * (1 - share)) * (RAMP.length - 1);
  const at = Math.min(RAMP.length - 2, Math.floor(t));
  const mixed = RAMP[at].map((value, i) => Math.round(value + (RAMP[at + 1][i] - value) * (t - at)));
  return `rgb(${mixed.join(" ")})`;
}

// The position of a value between the smallest and the largest; on a log scale over more than two decades.
/** @param {(number | null)[]} values @param {number[]} [range] @returns {Scale | null} */
export function scaleOf(values, range = []) {
  const known = [...values, ...range].flatMap((value) => value !== null && Number.isFinite(value) ? value : []);
  if (!known.length) return null;
  const [low, high] = known.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  const least = known.reduce((a, value) => (value > 0 ? Math.min(a, value) : a), Infinity);
  const log = low >= 0 && high / least > DECADES;
  const share = (/** @type {number} */ value) => {
    if (high === low) return high === 0 ? 0 : 1;
    return log
      ? Math.max(0, Math.log(Math.max(value, least) / least) / Math.log(high / least))
      : (value - low) / (high - low);
  };
  return { low, high, log, share };
}

export class Overlays {
  /** @type {OverlayData[]} */
  overlays = [];
  dark = false;
  /** @type {OverlayData | null} */
  overlay = null;
  /** @type {Scale | null} */
  scale = null;
  name = "";
  at = -1;
  most = 0;
  sizes = false;
  bars = false;

  /** @param {HTMLElement} root @param {Python} python @param {() => void} repaint */
  constructor(root, python, repaint) {
    this.root = root;
    this.python = python;
    this.repaint = repaint;
    this.field = make("label", { class: "choice" });
    make("span", {}, this.field, "colour");
    this.select = make("select", { "aria-label": "Colour by" }, this.field);
    this.select.onchange = () => this.choose(this.select.value, true);
    const title = "Draw each node's share of the cost as a bar";
    this.barsButton = button(undefined, "Size by cost", title, () => this.toggleBars(), { "aria-pressed": "false" });
  }

  /** @param {Graph} graph @param {boolean} dark */
  over(graph, dark) {
    this.overlays = graph.overlays;
    this.dark = dark;
    this.select.replaceChildren(make("option", { value: "" }, undefined, "op class"));
    const others = graph.overlays.filter(({ name }) => name !== "op_class");
    for (const { name, title } of others) make("option", { value: name }, this.select, title);
    this.field.hidden = others.length === 0;
    this.choose(this.name);
  }

  /** @param {string} name @param {boolean} [told] */
  choose(name, told) {
    this.at = name === "op_class" ? -1 : this.overlays.findIndex((overlay) => overlay.name === name);
    this.overlay = this.overlays[this.at] ?? null;
    if (this.overlay || told) this.name = this.overlay?.name ?? "";
    this.select.value = this.overlay?.name ?? "";
    this.sizes = this.overlay?.kind === "number";
    this.root.classList.toggle("by-value", this.overlay !== null);
    this.barsButton.hidden = !this.sizes;
    if (!told) return;
    this.repaint();
    this.python.report("overlay", this.name || null);
  }

  toggleBars() {
    this.bars = !this.bars;
    this.barsButton.setAttribute("aria-pressed", String(this.bars));
    this.repaint();
  }

  // The scale spans the server's values of nodes, and the values of folded groups on screen.
  /** @param {Picture} picture */
  measure(picture) {
    const values = picture.items.map(({ item }) => this.valueOf(item));
    this.scale = this.sizes ? scaleOf(values, this.overlay?.range) : null;
    this.most = this.sizes
      ? picture.items.reduce((most, { item, open }) => (open ? most : Math.max(most, this.valueOf(item) ?? 0)), 0)
      : 0;
  }

  /** @param {Item} item */
  valueOf(item) {
    return item.v?.[this.at] ?? null;
  }

  /** @param {Item} item */
  colourOf(item) {
    if (!this.overlay) return null;
    const value = this.valueOf(item);
    if (value === null) return "";
    if (this.sizes) return this.scale ? rampColour(this.scale.share(value), this.dark) : "";
    const category = this.overlay.categories[value];
    return category?.[this.dark ? "dark" : "light"] ?? "";
  }

  /** @param {Inks} inks @returns {Paints} */
  paints(inks) {
    const own = (/** @type {Item} */ { g, cls }) => inks.classes.get(g === undefined ? cls : "group");
    const colourOf = (/** @type {Item} */ item) => (this.colourOf(item) ?? own(item)) || inks.none;
    return { ...inks, byClass: !this.overlay, colourOf };
  }

  /** @param {ItemElement} element @param {Placed} placed */
  dress(element, { item, open, w, h }) {
    const colour = this.colourOf(item);
    element.classList.toggle("unrecorded", colour === "" && !open);
    element.classList.toggle("painted", Boolean(colour) && !open);
    if (colour && CSS.supports("color", colour)) element.style.setProperty("--op", colour);
    else element.style.removeProperty("--op");
    element.querySelector(":scope > .bar")?.remove();
    if (!this.bars || !this.sizes || open || !this.most) return;
    const share = (this.valueOf(item) ?? 0) / this.most;
    if (share > 0) {
      make(
        "rect",
        { class: "bar", x: 4, y: h - 4, width: Math.max(1, (w - 4) * share).toFixed(1), height: 4 },
        element,
      );
    }
  }

  /** @param {Item} item */
  told(item) {
    if (!this.overlay) return "";
    const value = this.valueOf(item);
    const { title, unit, categories, note } = this.overlay;
    if (value === null) return `${title}: not recorded${note ? ` (${note})` : ""}`;
    return `${title}: ${this.sizes ? figure(value, unit) : categories[value]?.name ?? value}`;
  }

  /** @param {HTMLElement} parent @param {Record<string, string>} classes @param {Picture} picture */
  legend(parent, classes, picture) {
    parent.replaceChildren();
    legendOfLaunches(parent, picture);
    if (!this.overlay) return legendOfClasses(parent, classes, picture);
    const values = new Set(picture.items.filter(({ open }) => !open).map(({ item }) => this.valueOf(item)));
    if (!this.sizes) {
      this.overlay.categories.forEach((category, index) => {
        if (values.has(index)) swatch(parent, category.name, category[this.dark ? "dark" : "light"]);
      });
    } else if (this.scale) ramp(parent, this.overlay, this.scale, this.dark);
    if (values.has(null)) make("span", { class: "none" }, parent, "not recorded");
    parent.title = this.overlay.note;
  }
}

/** @param {HTMLElement} parent @param {OverlayData} overlay @param {Scale} scale @param {boolean} dark */
function ramp(parent, { title, unit }, { low, high, log }, dark) {
  const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => rampColour(share, dark));
  const bar = make("span", { class: "ramp" }, parent);
  make("b", {}, bar, `${title}${log ? ", log" : ""}`);
  make("i", {}, bar, figure(low, unit));
  make("em", { style: `background: linear-gradient(to right, ${stops.join(", ")})` }, bar);
  make("i", {}, bar, figure(high, unit));
}

/** @param {HTMLElement} parent @param {string} label @param {string} colour */
function swatch(parent, label, colour) {
  const element = make("span", {}, parent, label);
  if (CSS.supports("color", colour)) element.style.setProperty("--op", colour);
}

/** @param {HTMLElement} parent @param {Record<string, string>} classes @param {Picture} picture */
function legendOfClasses(parent, classes, picture) {
  const used = new Set();
  for (const { item, open } of picture.items) {
    if (!open) { for (const cls of item.mix?.map(([name]) => name) ?? [item.cls]) used.add(cls); }
  }
  for (const [name, label] of Object.entries(classes)) {
    if (!used.has(name)) continue;
    const entry = make("span", { class: `class ${opClass(name)}` }, parent);
    const svg = make("svg", { viewBox: "-6 -6 12 12", "aria-hidden": "true" }, entry);
    make("rect", { class: "stripe", x: -6, y: -6, width: 12, height: 12, rx: 6 }, svg);
    glyph(name, 0, 0, svg);
    entry.append(label);
  }
  parent.title = "";
}
