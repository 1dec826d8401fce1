// Drawing: composes the graph, keeps the stage, the far surface, the small map and the legend in line with the camera.
import { counted } from "../../js/shared.js";
import { Camera, inside, moveWithPointer, OVERSCAN, SLACK } from "./camera.js";
import { compose } from "./compose.js";
import { Stage } from "./cull.js";
import { button, calm, make, opClass } from "./dom.js";
import { Far } from "./far.js";
import { Film } from "./film.js";
import { Focus } from "./focus.js";
import { Folds } from "./fold.js";
import { Minimap } from "./minimap.js";
import { flyAll, FOLD_MS, Morph, standing } from "./morph.js";
import { Overlays } from "./overlay.js";
import { Step } from "./step.js";
import { Help, toolBar } from "./tools.js";
/** @import { MetricsData } from "../../js/wire.d.ts" */
/** @import { Choice, Context, Picture, Placed, Spot } from "./types.d.ts" */
/** @import { Graph } from "./model.js" */
/** @import { GraphView } from "./view.js" */
/** @import { Search } from "./search.js" */

const SETTLED_MS = 140;
const RINGS = ["hit", "related", "holds", "preview", "near", "selected", "at"];
const MOST_RINGS = 500;
const INKS = { bg: "--bg", ink: "--ink", line: "--edge", accent: "--accent", none: "--unrecorded" };

export class Drawing {
  /** @type {Graph} */
  graph;
  /** @type {Picture} */
  picture;
  /** @type {Choice | null} */
  choice;
  /** @type {boolean} */
  dark;
  /** @type {Record<string, string>} */
  classes;
  /** @type {MetricsData} */
  metrics;
  /** @type {Context | null} */
  context;
  /** @type {number | null} */
  frameWish;

  /** @type {Search} */
  search;
  /** @type {HTMLButtonElement[]} */
  foldButtons;
  /** @type {HTMLButtonElement} */
  wide;
  /** @type {HTMLButtonElement} */
  barsButton;

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.root = make("div", { class: "view", tabindex: 0, role: "listbox" }, parent);
    // For tests and benchmarks.
    Object.assign(this.root, { compileboardView: this });
    this.top = make("div", { class: "top" }, this.root);
    this.viewport = make("div", { class: "viewport" }, this.root);
    this.far = new Far(this.viewport);
    this.canvas = make("div", { class: "stage" }, this.viewport);
    this.stage = new Stage(this.canvas);
    this.stage.visible = (thing) => this.film.shows(thing);
    this.stage.dress = (element, placed) => (this.overlays.dress(element, placed), this.film.dress(element, placed));
    this.stage.onPump = () => (this.stats.drawn = this.stage.drawn.size);
    this.camera = new Camera(this.viewport, this.canvas, () => this.moved());
    this.pointer = moveWithPointer(this.viewport, this.camera);
    const view = this.whole;
    this.overlays = new Overlays(view);
    this.folds = new Folds(view);
    this.inStep = new Step(view);
    this.stats = { drawn: 0, total: 0 };
    this.furnish();
  }

  // Itself, as the view that it is a part of.
  get whole() {
    return /** @type {GraphView} */ (/** @type {unknown} */ (this));
  }

  // What the view does when another picture is shown, and when what is lit may be another.
  afterShow() {}

  relight() {}

  furnish() {
    const view = this.whole;
    const head = make("div", { class: "head" }, this.top);
    this.morph = new Morph(view, head);
    this.focus = new Focus(view, head);
    toolBar(view, this.top);
    this.notice = make("div", { class: "notice", role: "alert", hidden: "" }, this.root);
    const foot = make("div", { class: "foot" }, this.root);
    this.minimap = new Minimap(view, foot);
    const info = make("div", { class: "info" }, foot);
    this.status = make("div", { class: "status" }, info);
    this.legend = make("div", { class: "legend" }, info);
    this.film = new Film(view, foot);
    this.help = new Help(this.root);
    this.tip = make("div", { class: "tip", hidden: "" }, this.root);
    this.spoken = make("div", { class: "spoken", "aria-live": "polite" }, this.root);
  }

  // Look at another graph (the other of a morph, or a part), from where the camera is told to stand.
  /** @param {Graph} graph @param {Spot} [camera] */
  setGraph(graph, camera = null) {
    const same = graph === this.graph;
    this.graph = graph;
    this.overlays.over(graph, this.dark);
    if (!same) this.film.over(graph, this.frameWish);
    this.stage.context = null;
    this.compose();
    if (camera) {
      Object.assign(this.camera, {
        x: camera.x,
        y: camera.y,
        k: camera.k,
        picture: this.picture,
        moved: true,
        by: "view",
      });
    }
    if (camera) this.camera.apply();
    else this.camera.show(this.picture);
    this.describe();
    this.afterShow();
  }

  compose() {
    this.context ??= { metrics: this.metrics };
    this.picture = compose(this.graph.levels, this.graph.unfolded);
    this.camera.picture = this.picture;
    this.overlays.measure(this.picture);
    this.stage.show(this.picture, this.context);
    this.far.at = null;
    this.overlays.legend(this.legend, this.classes, this.picture);
    this.minimap.paint(this.picture, this.paints());
    this.stats.total = this.picture.items.length;
  }

  // Folds have changed: the box that was toggled keeps its place on the screen, the others move to theirs.
  /** @param {number} [anchor] @param {boolean} [staying] */
  refresh(anchor, staying = false) {
    const flying = !calm() && !this.camera.far;
    const before = flying ? standing(this.stage) : null;
    const { camera } = this;
    const from = { x: camera.x, y: camera.y };
    const old = this.anchorAt(anchor);
    this.compose();
    const now = old && this.anchorAt(anchor);
    if (now) {
      camera.x += (old.x + old.w / 2 - now.x - now.w / 2) * camera.k;
      camera.y += (old.y - now.y) * camera.k;
      camera.by = "view";
      camera.apply();
    } else if (!staying) camera.show(this.picture);
    this.drawNow();
    if (flying && (now || staying)) {
      flyAll(this.stage, before, { x: (from.x - camera.x) / camera.k, y: (from.y - camera.y) / camera.k }, FOLD_MS);
    }
    this.describe();
    this.afterShow();
  }

  /** @param {number | null} anchor */
  anchorAt(anchor) {
    if (anchor === undefined || !this.picture) return null;
    if (anchor === null) return this.choice ? this.placedOf(this.choice.id) : null;
    return this.picture.open.get(anchor) ?? this.placedOf(this.graph.groups.get(anchor)?.id);
  }

  drawNow() {
    this.canvas.style.transform = `translate(${this.camera.x}px, ${this.camera.y}px) scale(${this.camera.k})`;
    this.moved();
  }

  // After every move of the camera: once a frame.
  moved() {
    if (!this.picture) return;
    const { camera, stage } = this;
    this.root.classList.toggle("far", camera.far);
    this.far.show(camera.far);
    if (camera.far) this.followFar();
    else if (!stage.rect || !inside(camera.rect(SLACK), stage.rect, this.picture)) this.cull();
    this.minimap.follow();
    this.inStep.moved();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), SETTLED_MS);
  }

  cull() {
    if (!this.stage.rect) this.remark();
    this.stage.cull(this.camera.rect(OVERSCAN), this.camera.rect(SLACK));
    this.stats.drawn = this.stage.drawn.size;
  }

  followFar() {
    for (const element of this.viewport.children) element.classList.remove("glide");
    if (this.stage.drawn.size || this.stage.lines.size) this.stage.cull([-2, -2, -2, -2]);
    if (this.stage.rect) this.remark();
    this.stage.rect = null;
    if (this.far.follow(this.camera, this.viewport, this.picture)) this.repaintFar();
  }

  repaintFar() {
    if (!this.picture || !this.camera.far) return;
    this.stats.drawn = this.far.paint(this.stage, this.camera, this.viewport, this.paints());
  }

  // From afar, what is marked is ringed above the surface.
  remark() {
    const rings = !this.camera.far || !this.picture
      ? []
      : RINGS.flatMap((name) =>
        [...(this.stage.marks.get(name) ?? [])].slice(0, MOST_RINGS).map((
          id,
        ) => /** @type {[string, Placed]} */ ([name, this.placedOf(id)]))
      );
    this.stage.ring(rings.filter(([, placed]) => placed), 5 / this.camera.k);
  }

  // At rest: sharp again, nothing kept that is far outside, and levels fetched that may be asked for next.
  settle() {
    const { camera, stage } = this;
    if (camera.far && this.far.at && Math.abs(this.far.at.k / camera.k - 1) > 0.01) this.repaintFar();
    if (!camera.far && stage.rect) {
      const [view, drawn] = [camera.rect(), stage.rect].map(([left, top, right, bottom]) =>
        (right - left) * (bottom - top)
      );
      if (drawn > 6 * view) this.cull();
    }
    this.folds.later();
  }

  // Colours have changed, not places.
  repaint() {
    this.overlays.measure(this.picture);
    this.stage.redress();
    this.overlays.legend(this.legend, this.classes, this.picture);
    this.minimap.paint(this.picture, this.paints());
    this.repaintFar();
  }

  // The film has gone to another frame.
  reframe() {
    if (!this.camera.far) this.cull();
    this.stage.redress();
    this.relight();
    this.minimap.paint(this.picture, this.paints());
    this.repaintFar();
  }

  // The colours of the style sheet as a canvas needs them.
  paints() {
    if (this.inks?.dark !== this.dark) {
      const probe = make("span", {}, this.root);
      const colour = (value) => ((probe.style.color = value), getComputedStyle(probe).color);
      this.inks = { dark: this.dark, classes: new Map() };
      for (const [name, property] of Object.entries(INKS)) this.inks[name] = colour(`var(${property})`);
      for (const name of [...Object.keys(this.classes), "other"]) {
        probe.className = opClass(name);
        this.inks.classes.set(name, colour("var(--op)"));
      }
      probe.remove();
    }
    const { classes } = this.inks;
    const colourOf = (item) => this.overlays.colourOf(item) ?? classes.get(item.cls) ?? classes.get("other");
    return { ...this.inks, colourOf: (item) => colourOf(item) || this.inks.none };
  }

  // Items in sight, nearest to the middle of the view first, with how far from it they stand.
  /** @param {number} [most] */
  byDistance(most = 1) {
    const [cx, cy] = this.camera.centre();
    const seen = [...this.stage.grid.find(this.camera.rect())].filter((placed) =>
      !placed.open && this.stage.visible(placed.item)
    );
    const far = seen.map((placed) => ({ placed, dx: placed.x + placed.w / 2 - cx, dy: placed.y + placed.h / 2 - cy }));
    return far.sort((a, b) => Math.hypot(a.dx, a.dy) - Math.hypot(b.dx, b.dy)).slice(0, Math.max(most, 40));
  }

  // The item on screen that has this id, or a row with it.
  /** @param {string} id @returns {Placed | null} */
  placedOf(id) {
    for (const place of this.graph.byId.get(id) ?? []) {
      const placed = this.picture.levels.get(place.gid)?.[place.index];
      if (placed) return placed;
    }
    return null;
  }

  describe() {
    const { nodes, edges, groups } = this.graph.size;
    const notes = [
      ...new Set([...this.picture.levels.keys()].map((gid) => this.graph.levels.get(gid).note).filter(Boolean)),
    ];
    if (this.film.on && this.picture.items.some(({ item }) => item.f?.length)) notes.unshift("all steps together");
    const size = [counted(nodes, "node"), counted(edges, "edge"), groups ? counted(groups, "group") : ""].filter(
      Boolean,
    ).join(", ");
    this.status.textContent = [size, ...notes].join(" · ");
    this.status.title = notes.join("\n");
    this.root.setAttribute(
      "aria-label",
      `Graph of ${size}. Arrow keys walk, Enter unfolds, slash searches, question mark lists the keys.`,
    );
    this.wide.hidden = !this.picture.edges.some(({ edge }) => edge.bytes > 0);
    for (const element of this.foldButtons) element.hidden = !groups;
    this.root.classList.toggle("empty", nodes === 0);
  }

  toggleBytes() {
    const on = this.root.classList.toggle("by-bytes");
    this.wide.setAttribute("aria-pressed", String(on));
  }

  /** @param {boolean} on */
  busy(on) {
    this.root.classList.toggle("loading", on);
    this.root.setAttribute("aria-busy", String(on));
  }

  // What did not work, in words, with a second try where there is one.
  /** @param {string} words @param {() => void} [again] */
  say(words, again) {
    this.notice.replaceChildren(make("span", {}, null, words));
    if (again) button(this.notice, "Try again", "Try again", () => ((this.notice.hidden = true), again()));
    button(this.notice, "✕", "Close", () => (this.notice.hidden = true));
    this.notice.hidden = false;
  }

  // For tests and benchmarks.
  positions() {
    return Object.fromEntries(this.picture.items.map(({ item, x, y, w, h }) => [item.id, { x, y, w, h }]));
  }

  get frame() {
    return this.film.on ? this.film.at : null;
  }

  get unfolded() {
    return [...this.picture.open.values()].map(({ item }) => item.id);
  }
}
