// Drawing: composes the graph, keeps the stage, the far surface, the small map and the legend in line with the camera.
import { isPresenting } from "../../js/room.js";
import { counted, tell } from "../../js/shared.js";
import { calm, make } from "./dom.js";
import { Film } from "./film.js";
import { Hulls } from "./hulls.js";
import { Graph, NOTHING } from "./model.js";
import { Overlays } from "./overlay.js";
import { Help, Notice, Tip } from "./panels.js";
import { Camera, OVERSCAN, SLACK } from "./picture/camera.js";
import { compose } from "./picture/compose.js";
import { Far } from "./picture/far.js";
import { flyAll, standing } from "./picture/flight.js";
import { inside } from "./picture/grid.js";
import { Minimap } from "./picture/minimap.js";
import { composeFor, LEAST_PRESENTED } from "./picture/opening.js";
import { inksOf } from "./picture/paints.js";
import { moveWithPointer } from "./picture/pointer.js";
import { Signs } from "./picture/signs.js";
import { Stage } from "./picture/stage.js";
import { Python } from "./python.js";
/** @import { Arguments } from "../../js/types.d.ts" */
/** @import { GraphData, PlaceData } from "../../js/wire.d.ts" */
/** @import { Choice, Inks, Paints, Placed, Spot } from "./types.d.ts" */

const FOLD_MS = 200;
const SETTLED_MS = 140;
const RINGS = ["hit", "related", "holds", "preview", "near", "selected", "at", "outlined"];
const MOST_RINGS = 500;
const KEYS = "Arrow keys walk, with Shift between groups, Enter unfolds, slash searches, question mark lists the keys.";

export class Drawing {
  graph = new Graph(NOTHING, false);
  picture = compose(this.graph.levels, this.graph.unfolded);
  /** @type {Choice | null} */
  choice = null;
  /** @type {number | null} */
  frameWish = null;
  /** @type {Inks | null} */
  inks = null;
  dark = false;
  presented = false;
  settling = 0;
  stats = { drawn: 0, total: 0 };

  /** @param {Arguments<GraphData & PlaceData>} args */
  constructor(args) {
    this.data = args.data;
    this.python = new Python(args);
    this.root = make("div", { class: "view", tabindex: 0, role: "application" }, args.parentElement);
    // For HTML files, tests and benchmarks.
    Object.assign(this.root, { compileboardView: this });
    this.top = make("div", { class: "top" }, this.root);
    this.viewport = make("div", { class: "viewport" }, this.root);
    this.far = new Far(this.viewport);
    this.canvas = make("div", { class: "stage" }, this.viewport);
    this.stage = new Stage(this.canvas, args.data.metrics);
    this.stage.visible = (thing) => this.film.shows(thing);
    this.stage.dress = (element, placed) => (this.overlays.dress(element, placed), this.film.dress(element, placed));
    this.stage.onPump = () => (this.stats.drawn = this.stage.drawn.size, this.hulls.show(this.film));
    this.camera = new Camera(this.viewport, this.canvas, () => this.moved());
    this.pointer = moveWithPointer(this.viewport, this.camera);
    this.overlays = new Overlays(this.root, this.python, () => this.repaint());
    this.notice = new Notice(this.root);
    const foot = make("div", { class: "foot" }, this.root);
    this.minimap = new Minimap(foot, this.camera, this.stage);
    this.minimap.selection = () => this.choice && this.placedOf(this.choice.id);
    this.camera.asideFor = (picture, seen) => this.minimap.room(picture, seen);
    const info = make("div", { class: "info" }, foot);
    this.status = make("div", { class: "status" }, info);
    this.legend = make("div", { class: "legend", role: "group", tabindex: 0, "aria-label": "Legend" }, info);
    this.film = new Film(foot, args.data.metrics, this.python, (staying) => this.reframe(staying));
    this.hulls = new Hulls(this.stage, this.root);
    this.signs = new Signs(this.stage, this.camera, this.film, this.root);
    this.help = new Help(this.root);
    this.tip = new Tip(this.root, this.film, this.overlays, this.camera);
    this.spoken = make("div", { class: "spoken", "aria-live": "polite" }, this.root);
  }

  // Callbacks: another picture is shown, the highlighted items may have changed, the camera moves, it rests.
  afterShow() {}
  relight() {}
  afterMove() {}
  atRest() {}

  // Show another graph (or a part of one), at the camera position that the caller passes.
  /** @param {Graph} graph @param {Spot} [camera] */
  setGraph(graph, camera) {
    const same = graph === this.graph;
    this.graph = graph;
    this.overlays.over(graph, this.dark);
    if (!same) this.film.over(graph, this.frameWish);
    this.hulls.mark(this.film);
    this.compose(false);
    this.camera.stand(this.picture, camera && { x: camera.x, y: camera.y, k: camera.k });
    this.describe();
    this.afterShow();
  }

  /** @param {boolean} same */
  compose(same) {
    this.picture = composeFor(this.graph.levels, this.graph.unfolded, this.camera.measure());
    this.camera.picture = this.picture;
    this.overlays.measure(this.picture);
    this.stage.show(this.picture, same);
    this.signs.over(this.picture);
    this.far.at = null;
    this.overlays.legend(this.legend, this.data.classes, this.picture);
    this.minimap.paint(this.picture, this.paints());
    this.stats.total = this.picture.items.length;
  }

  // Folds have changed: the box that was toggled keeps its place on the screen, the others move to theirs.
  /** @param {number | null} [anchor] @param {boolean} [staying] */
  refresh(anchor, staying = false) {
    const flying = !calm() && !this.camera.far;
    const before = flying ? standing(this.stage) : new Map();
    const { camera } = this;
    const from = { x: camera.x, y: camera.y };
    const old = this.anchorAt(anchor);
    this.compose(true);
    const now = old && this.anchorAt(anchor);
    if (old && now) {
      camera.x += (old.x + old.w / 2 - now.x - now.w / 2) * camera.k;
      camera.y += (old.y - now.y) * camera.k;
      camera.keepAcross(now);
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

  /** @param {number | null} [anchor] a group, or the selection */
  anchorAt(anchor) {
    if (anchor === undefined) return null;
    if (anchor === null) return this.choice && this.placedOf(this.choice.id);
    return this.picture.open.get(anchor) ?? this.placedOf(this.graph.groups.get(anchor)?.id ?? "");
  }

  drawNow() {
    this.camera.draw();
    this.moved();
  }

  // The view has another size: keep the selection in sight; without one, open anew until the user moves the camera.
  resize() {
    const placed = this.choice && this.placedOf(this.choice.id);
    if (!placed && !this.camera.moved) return this.camera.show(this.picture);
    this.camera.resized();
    if (isPresenting() && !this.presented) this.camera.zoom(Math.max(1, LEAST_PRESENTED / this.camera.k));
    this.presented = isPresenting();
    if (placed) this.camera.reveal(placed, false, true);
  }

  // After every move of the camera: once a frame.
  moved() {
    const { camera, stage } = this;
    this.root.classList.toggle("far", camera.far);
    this.legend.style.setProperty("--k", String(camera.k));
    this.far.show(camera.far);
    if (camera.far) this.followFar();
    else if (!stage.rect || !inside(camera.rect(SLACK), stage.rect, this.picture)) this.cull();
    this.signs.follow();
    this.minimap.follow();
    this.afterMove();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), SETTLED_MS);
  }

  cull() {
    if (!this.stage.rect) this.remark();
    this.stage.cull(this.camera.rect(OVERSCAN), this.camera.rect(SLACK));
    this.hulls.show(this.film);
    this.stats.drawn = this.stage.drawn.size;
  }

  followFar() {
    for (const element of this.viewport.children) element.classList.remove("glide");
    if (this.stage.drawn.size || this.stage.lines.size) this.stage.cull([-2, -2, -2, -2]);
    this.hulls.show(this.film);
    if (this.stage.rect) this.remark();
    this.stage.rect = null;
    if (this.far.follow(this.camera, this.picture)) this.repaintFar();
  }

  repaintFar() {
    if (this.camera.far) this.stats.drawn = this.far.paint(this.stage, this.camera, this.paints(), this.film);
  }

  // From afar, marked items have a ring above the surface.
  remark() {
    /** @type {[string, Placed][]} */
    const rings = [];
    for (const name of this.camera.far ? RINGS : []) {
      for (const id of [...(this.stage.marks.get(name) ?? [])].slice(0, MOST_RINGS)) {
        const placed = this.placedOf(id);
        if (placed) rings.push([name, placed]);
      }
    }
    this.stage.ring(rings, 5 / this.camera.k);
  }

  // At rest: draw sharply again, drop elements far outside, and fetch levels that may be needed next.
  settle() {
    const { camera, stage } = this;
    camera.draw(true);
    this.signs.follow();
    if (camera.far && this.far.at && Math.abs(this.far.at.k / camera.k - 1) > 0.01) this.repaintFar();
    if (!camera.far && stage.rect) {
      const [view, drawn] = [camera.rect(), stage.rect].map(([l, t, r, b]) => (r - l) * (b - t));
      if (drawn > 6 * view) this.cull();
    }
    this.atRest();
  }

  // Colours have changed, not places.
  repaint() {
    this.overlays.measure(this.picture);
    this.stage.redress();
    this.overlays.legend(this.legend, this.data.classes, this.picture);
    this.minimap.paint(this.picture, this.paints());
    this.repaintFar();
  }

  // The film has gone to another frame; a step of the user's brings what it changes into view.
  /** @param {boolean} [staying] */
  reframe(staying) {
    this.hulls.mark(this.film);
    const changed = staying ? [] : this.film.changed(this.picture.items);
    if (changed.length) this.camera.panTo(changed);
    this.signs.step();
    if (!this.camera.far) this.cull();
    for (const [placed, element] of this.stage.drawn) this.film.dress(element, placed);
    this.relight();
    if (this.picture.changes) this.minimap.paint(this.picture, this.paints());
    this.repaintFar();
  }

  /** @returns {Paints} */
  paints() {
    this.inks ??= inksOf(this.root, Object.keys(this.data.classes));
    return this.overlays.paints(this.inks);
  }

  // The item on screen that has this id.
  /** @param {string} id @returns {Placed | null} */
  placedOf(id) {
    for (const place of this.graph.byId.get(id) ?? []) {
      const placed = this.picture.levels.get(place.gid)?.[place.index];
      if (placed) return placed;
    }
    return null;
  }

  // The items on screen that belong to another view's selection, from the top down.
  /** @param {string | null} id @param {string[]} links */
  visibleRelated(id, links) {
    const shown = this.graph.related(id, links).flatMap((place) => this.graph.shown(place, this.picture) ?? []);
    return [...new Set(shown)].sort((a, b) => a.y - b.y || a.x - b.x);
  }

  /** @param {"select" | "hover"} name @param {Choice | null} choice */
  tell(name, choice) {
    const { channel, source } = this.data;
    tell(name, { channel, source, id: choice?.id ?? null, links: choice?.links ?? [] });
  }

  describe() {
    const { nodes, edges, groups, caption } = this.graph.size;
    const notes = new Set([...this.picture.levels.keys()].map((gid) => this.graph.levels.get(gid)?.note ?? ""));
    const always = this.picture.items.every(({ item }) => !item.f?.length);
    const said = [this.film.on && !always ? "all steps together" : "", ...notes].filter(Boolean);
    const grouped = groups ? `, ${counted(groups, "group")}` : "";
    const size = caption || `${counted(nodes, "node")}, ${counted(edges, "edge")}${grouped}`;
    this.status.replaceChildren(make("span", { class: "size" }, undefined, size));
    if (said.length) make("span", {}, this.status, said.join(" · "));
    this.status.title = said.join("\n");
    this.root.setAttribute("aria-label", `Graph of ${size}. ${KEYS}`);
    this.root.classList.toggle("empty", nodes === 0);
  }

  /** @param {boolean} on */
  busy(on) {
    this.root.classList.toggle("loading", on);
    this.root.setAttribute("aria-busy", String(on));
  }

  positions() {
    return Object.fromEntries(this.picture.items.map(({ item, x, y, w, h }) => [item.id, { x, y, w, h }]));
  }

  get unfolded() {
    return [...this.picture.open.values()].map(({ item }) => item.id);
  }
}
