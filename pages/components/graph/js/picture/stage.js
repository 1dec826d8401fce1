// The stage: only the items near the view are in the document. A grid finds them, and elements survive small changes.
import { headerOf, isHull } from "./compose.js";
import { drawCurve, edgeOf, middleOf } from "./curves.js";
import { make } from "../dom.js";
import { Grid, overlap } from "./grid.js";
import { toggle } from "./marks.js";
import { copyItem, drawItem, lookOf } from "./scene.js";
/** @import { EdgeData, MetricsData } from "../../../js/wire.d.ts" */
/** @import { Item, ItemElement, Line, Picture, Placed, Rect, Stub } from "../types.d.ts" */

const PER_FRAME = 150;
const MOST_LABELS = 24;
const LABEL_CHAR = 6.1;
const LABEL_HIGH = 13;

export class Stage {
  /** @type {Grid<Placed>} */
  grid = new Grid();
  /** @type {Grid<Line | Stub>} */
  lineGrid = new Grid();
  /** @type {Rect | null} */
  rect = null;
  /** @type {Map<string, ItemElement> | null} */
  spare = null;
  /** @type {(() => void)[]} */
  queue = [];
  pumping = 0;
  serial = 0;
  /** Patterns of boxes by their looks; null for a look that was drawn once. @type {Map<string, ItemElement | null>} */
  patterns = new Map();

  /** @param {HTMLElement} parent @param {MetricsData} metrics */
  constructor(parent, metrics) {
    this.metrics = metrics;
    this.svg = make("svg", { role: "img", "aria-label": "Nodes and groups" }, parent);
    const defs = make("defs", {}, this.svg);
    const hatch = make("pattern", {
      id: "hatch",
      width: 6,
      height: 6,
      patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)",
    }, defs);
    make("rect", { class: "hatched", width: 1.5, height: 6 }, hatch);
    const layer = (/** @type {string} */ name) => make("g", { class: name }, this.svg);
    // An open group is a sheet under the edges, a launch one of paper; borders and titles lie above the edges.
    this.floors = layer("floors");
    this.joints = layer("joints");
    this.edges = layer("edges");
    this.lit = layer("lit");
    this.near = layer("near");
    // Titles of groups lie above the edges that cross them.
    this.frames = layer("frames");
    this.items = layer("items");
    this.labels = layer("labels");
    this.rings = layer("rings");
    this.signs = layer("signs");
    this.ties = layer("ties");
    /** @type {Map<Placed, ItemElement>} */
    this.drawn = new Map();
    /** @type {Map<Line | Stub, SVGGElement>} */
    this.lines = new Map();
    /** @type {Map<string, Set<string>>} */
    this.marks = new Map();
    /** @type {Map<string, Set<SVGGElement>>} */
    this.byId = new Map();
    /** @type {(element: ItemElement, placed: Placed) => void} */
    this.dress = () => {};
    /** @type {(thing: Item | EdgeData) => boolean} */
    this.visible = () => true;
    /** @type {() => void} */
    this.onPump = () => {};
  }

  /** @param {Placed} placed */
  key({ gid, index, open, w, h }) {
    return `${gid}:${index}:${open}:${w}:${h}`;
  }

  // Another picture: of the same graph, whose elements may be kept, or of another.
  /** @param {Picture} picture @param {boolean} same */
  show(picture, same) {
    cancelAnimationFrame(this.pumping);
    const kept = new Map(same ? [...this.drawn].map(([placed, element]) => [this.key(placed), element]) : []);
    if (!kept.size) this.clear();
    this.spare = kept;
    this.drawn = new Map();
    this.rect = null;
    for (const element of this.lines.values()) element.remove();
    this.lines.clear();
    this.grid = new Grid();
    this.lineGrid = new Grid();
    for (const placed of picture.items) this.grid.add(placed);
    for (const line of [...picture.edges, ...picture.stubs]) this.lineGrid.add(line);
    this.svg.setAttribute("width", String(Math.ceil(picture.width) + 1));
    this.svg.setAttribute("height", String(Math.ceil(picture.height) + 1));
  }

  clear() {
    for (const layer of this.svg.querySelectorAll(":scope > g")) layer.replaceChildren();
    this.drawn.clear();
    this.lines.clear();
    this.byId.clear();
    this.patterns.clear();
  }

  // Update the document to the items near the view; elements that an earlier picture drew the same way are moved, not
  // made again. Items that are not in view yet are not urgent: they are made bit by bit over the next frames.
  /** @param {Rect} rect @param {Rect} [urgent] */
  cull(rect, urgent = rect) {
    this.rect = rect;
    cancelAnimationFrame(this.pumping);
    this.queue = [];
    const now = (/** @type {Placed | Line | Stub} */ { box }) =>
      box[0] <= urgent[2] && box[2] >= urgent[0] && box[1] <= urgent[3] && box[3] >= urgent[1];
    const items = new Set([...this.grid.find(rect)].filter((placed) => this.visible(placed.item)));
    for (const [placed, element] of this.drawn) if (!items.has(placed)) this.remove(element), this.drawn.delete(placed);
    for (const placed of items) {
      if (this.drawn.has(placed)) continue;
      if (placed.open || now(placed) || this.spare?.has(this.key(placed))) this.draw(placed);
      else this.queue.push(() => this.draw(placed));
    }
    for (const element of this.spare?.values() ?? []) if (!this.drawn.has(element.placed)) this.remove(element);
    this.spare = null;
    const lines = new Set([...this.lineGrid.find(rect)].filter((line) => this.visible(edgeOf(line))));
    for (const [line, element] of this.lines) if (!lines.has(line)) element.remove(), this.lines.delete(line);
    for (const line of lines) {
      if (this.lines.has(line)) continue;
      if (now(line)) this.drawLine(line);
      else this.queue.push(() => this.drawLine(line));
    }
    this.describe();
    if (this.queue.length) this.pump();
  }

  // A tree must have items: nothing is drawn of an empty graph, and from afar.
  describe() {
    this.svg.setAttribute("role", this.drawn.size ? "tree" : "img");
  }

  pump() {
    this.pumping = requestAnimationFrame(() => {
      for (const make of this.queue.splice(0, PER_FRAME)) make();
      this.describe();
      this.onPump();
      if (this.queue.length) this.pump();
    });
  }

  /** @param {Placed} placed */
  draw(placed) {
    const old = this.spare?.get(this.key(placed));
    const element = old ?? this.make(placed);
    element.placed = placed;
    if (!old) this.enter(element, placed);
    for (const part of [element, element.floor]) {
      part?.setAttribute("transform", `translate(${placed.x} ${placed.y})`);
    }
    this.drawn.set(placed, element);
    this.dress(element, placed);
    return element;
  }

  // A box as it looks in all frames; drawn twice, and copied for all others that look the same.
  /** @param {Placed} placed */
  make(placed) {
    const look = lookOf(placed);
    const pattern = this.patterns.get(look);
    if (pattern) return copyItem(pattern, placed);
    const element = drawItem(placed, this.metrics);
    this.patterns.set(look, pattern === null ? element : null);
    return pattern === null ? copyItem(element, placed) : element;
  }

  /** @param {ItemElement} element @param {Placed} placed */
  enter(element, placed) {
    this.serial += 1;
    element.id = `item-${this.serial}`;
    const id = idOf(element);
    this.byId.set(id, (this.byId.get(id) ?? new Set()).add(element));
    for (const [name, ids] of this.marks) toggle(element, name, ids.has(id));
    element.setAttribute("aria-selected", String(element.classList.contains("selected")));
    if (!placed.open) return this.items.append(element);
    const frames = /** @type {Iterable<ItemElement>} */ (this.frames.children);
    const after = [...frames].find((frame) => frame.placed.depth > placed.depth);
    this.frames.insertBefore(element, after ?? null);
    const [kind, rx] = isHull(placed.item) ? ["floor paper", 12] : ["floor", 6];
    element.floor = make("rect", { class: kind, width: placed.w, height: placed.h, rx });
    this.floors.insertBefore(element.floor, after?.floor ?? null);
  }

  /** @param {ItemElement} element */
  remove(element) {
    this.byId.get(idOf(element))?.delete(element);
    element.remove();
    element.floor?.remove();
  }

  /** @param {Line | Stub} line */
  drawLine(line) {
    const element = drawCurve(line);
    this.lines.set(line, element);
    this.edges.append(element);
  }

  // The innermost item at a point of the picture: an open launch in its whole hull, another open group at its header.
  /** @param {number} x @param {number} y @param {boolean} launched @returns {Placed | null} */
  at(x, y, launched) {
    /** @type {Placed | null} */
    let best = null;
    for (const placed of this.grid.find([x, y, x, y])) {
      const { item, open } = placed;
      if (!this.visible(item) || (open && !(isHull(item) ? launched : y <= placed.y + headerOf(item)))) continue;
      if (!best || placed.depth > best.depth) best = placed;
    }
    return best;
  }

  /** @param {string} name @param {Set<string>} ids */
  mark(name, ids) {
    const before = this.marks.get(name) ?? new Set();
    this.marks.set(name, ids);
    for (const id of before) {
      if (!ids.has(id)) { for (const element of this.byId.get(id) ?? []) toggle(element, name, false); }
    }
    for (const id of ids) for (const element of this.byId.get(id) ?? []) toggle(element, name, true);
    if (name !== "selected") return;
    for (const id of before) {
      for (const element of this.byId.get(id) ?? []) element.setAttribute("aria-selected", "false");
    }
    for (const id of ids) for (const element of this.byId.get(id) ?? []) element.setAttribute("aria-selected", "true");
  }

  // Highlighted edges lie above the others, as copies; those of the selection have labels.
  /** @param {"lit" | "near"} layer @param {(Line | Stub)[]} lines @param {boolean} [labelled] */
  light(layer, lines, labelled = false) {
    const shown = lines.filter((line) => this.visible(edgeOf(line)));
    this[layer].replaceChildren(...shown.map(drawCurve));
    if (!labelled) return;
    this.labels.replaceChildren();
    /** @type {Rect[]} */
    const taken = [];
    for (const { edge, points } of shown.filter((line) => line.edge?.label).slice(0, MOST_LABELS)) {
      const spot = this.freeSpot(middleOf(points), edge?.label ?? "", taken);
      if (!spot) continue;
      taken.push(spot);
      make("text", { x: spot[0], y: spot[3] - 3 }, this.labels, edge?.label);
    }
  }

  // A place near a point where a label covers no box, no title and no other label; null if there is none.
  /** @param {number[]} middle @param {string} label @param {Rect[]} taken @returns {Rect | null} */
  freeSpot([x, y], label, taken) {
    const wide = label.length * LABEL_CHAR;
    for (const [dx, dy] of [[4, 0], [-wide - 4, 0], [4, -LABEL_HIGH], [4, LABEL_HIGH], [-wide - 4, LABEL_HIGH]]) {
      /** @type {Rect} */
      const spot = [x + dx, y + dy - LABEL_HIGH / 2, x + dx + wide, y + dy + LABEL_HIGH / 2];
      const covered = [...this.grid.find(spot)].some(({ item, open, x, y, w, box }) =>
        overlap(open ? [x, y, x + w, y + headerOf(item)] : box, spot)
      );
      if (!covered && !taken.some((other) => overlap(other, spot))) return spot;
    }
    return null;
  }

  /** @param {[string, Placed][]} rings @param {number} least */
  ring(rings, least) {
    this.rings.replaceChildren();
    for (const [name, { x, y, w, h }] of rings) {
      const [wide, high] = [Math.max(w, least), Math.max(h, least)];
      make(
        "rect",
        { class: `ring ${name}`, x: x - (wide - w) / 2, y: y - (high - h) / 2, width: wide, height: high },
        this.rings,
      );
    }
  }

  redress() {
    for (const [placed, element] of this.drawn) this.dress(element, placed);
  }
}

/** @param {SVGElement} element */
function idOf(element) {
  return element.dataset.id ?? "";
}
