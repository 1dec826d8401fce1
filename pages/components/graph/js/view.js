// The view: selection, hover and keys, and their messages to Python and to the other views of its channel.
import { Room } from "../../js/room.js";
import { COMMANDS, isDark, listen, tell } from "../../js/shared.js";
import { closest, make } from "./dom.js";
import { Drawing } from "./drawing.js";
import { Elsewhere } from "./elsewhere.js";
import { Focus } from "./focus.js";
import { Folds } from "./fold.js";
import { Hover } from "./hover.js";
import { Graph, Lost, NotFound } from "./model.js";
import { keepLook, lookOf } from "./look.js";
import { Search } from "./search.js";
import { Step } from "./step.js";
import { heardOnPage, keyOf, Tools } from "./tools.js";
import { edgesAround, walkFrom } from "./walk.js";
/** @import { Arguments } from "../../js/types.d.ts" */
/** @import { CommandData, GraphData, PlaceData } from "../../js/wire.d.ts" */
/** @import { Choice, Selecting, Spot } from "./types.d.ts" */

const RETRY_MS = 800;
const MOST_RETRIES = 3;
const MARKS = ["selected", "related", "preview", "near", "hit", "at", "holds"];
/** @type {WeakMap<HTMLElement, GraphView>} */
const views = new WeakMap();

export class GraphView extends Drawing {
  main = this.graph;
  /** @type {Graph | null} */
  part = null;
  digest = "";
  going = 0;
  retries = 0;
  later = 0;
  listening = new AbortController();

  /** @param {Arguments<GraphData & PlaceData>} args */
  constructor(args) {
    super(args);
    const head = make("div", { class: "head" }, this.top);
    this.hovered = new Hover(this);
    this.inStep = new Step(this, (ids, open) => this.folds.follow(ids, open));
    this.folds = new Folds(this, (said) => this.inStep.send(said), (error, again) => this.failed(error, again));
    this.elsewhere = new Elsewhere(this);
    this.focus = new Focus(this, head);
    this.search = new Search(this);
    this.tools = new Tools(this, this.top);
    this.viewport.onclick = (event) => this.click(event);
    this.viewport.ondblclick = (event) => this.doubleClick(event);
    this.viewport.onmousemove = (event) => this.hovered.over(this.choiceAt(event), event);
    this.viewport.onmouseleave = () => this.hovered.over(null);
    this.root.onkeydown = (event) => this.key(event);
    this.room = new Room(this.root);
    this.resized = new ResizeObserver(() => (this.resize(), this.elsewhere.reveal()));
  }

  /** @param {Arguments<GraphData & PlaceData>} args */
  update(args) {
    const { data } = args;
    this.data = data;
    this.python.args = args;
    const dark = isDark(this.root);
    const repainted = dark !== this.dark;
    if (repainted) this.inks = null;
    this.dark = dark;
    this.root.dataset.theme = dark ? "dark" : "light";
    if (this.digest !== data.digest) this.start(data.digest);
    else if (repainted) this.overlays.over(this.graph, dark), this.repaint();
  }

  /** @param {string} digest */
  start(digest) {
    const { data } = this;
    const kept = this.choice?.id;
    this.digest = digest;
    this.frameWish = data.frame;
    this.part = null;
    this.choice = null;
    this.hovered.choice = null;
    this.elsewhere.selected = null;
    this.focus.forget();
    this.tip.hide();
    this.notice.hide();
    for (const name of MARKS) this.stage.mark(name, new Set());
    this.overlays.name ||= data.overlay;
    this.main = new Graph(data);
    this.room.fit(data.height);
    this.setGraph(this.main);
    this.search.clear();
    this.folds.recall(lookOf(data.digest));
    if (kept !== undefined && this.placedOf(kept)) this.select(this.choiceOf(kept), { quiet: true, atOnce: true });
  }

  /** @param {Graph} graph @param {Spot} [camera] @override */
  setGraph(graph, camera) {
    if (graph !== this.part) this.main = graph;
    super.setGraph(graph, camera);
  }

  connect() {
    this.listening.abort();
    this.listening = new AbortController();
    const { signal } = this.listening;
    const { channel, source } = this.data;
    this.elsewhere.connect(signal);
    this.inStep.connect(signal);
    globalThis.addEventListener("keydown", (event) => heardOnPage(this, event), { signal });
    listen("turn", (turn) => this.film.turn(turn), signal);
    listen("command", (wish) => this.obey(wish), signal);
    listen("ask", (said) => this.elsewhere.hears(said) && this.choice && this.tell("select", this.choice), signal);
    this.room.keep(this.data.height, signal);
    this.resized.observe(this.viewport);
    const waiting = COMMANDS.get(source);
    if (waiting) this.obey(waiting);
    if (!this.choice) tell("ask", { channel, source });
  }

  disconnect() {
    this.listening.abort();
    this.resized.disconnect();
    this.film.stop();
    this.main.leave();
    for (const timer of [this.later, this.settling, this.folds.timer]) clearTimeout(timer);
  }

  // Python's command; a command that is older than the user's last click here is out of date.
  /** @param {CommandData} wish */
  async obey(wish) {
    if (wish.source !== this.data.source) return;
    const paired = this.elsewhere.outline(wish.outlined ?? [], wish.tie);
    if (this.python.heeds(wish.serial)) await this.follow(wish);
    if (paired) await this.folds.reach(this.elsewhere.outlined), this.elsewhere.reveal();
  }

  /** @param {CommandData} wish */
  follow({ id, frame }) {
    if (typeof frame === "number" && frame !== this.film.at) this.film.go(frame, true);
    if (id === (this.choice?.id ?? null)) return;
    if (id === null) return this.select(null, { quiet: true });
    return this.goTo(id, { quiet: true, toMiddle: true, atOnce: !this.camera.moved });
  }

  /** @param {string} id @returns {Choice | null} */
  choiceOf(id) {
    const places = this.graph.byId.get(id) ?? [];
    const place = places.find(({ gid }) => this.picture.levels.has(gid)) ?? places[0];
    if (!place) return null;
    const { item, links } = place;
    return { id, links, item, label: item.label, detail: item.detail };
  }

  /** @param {MouseEvent} event @returns {Choice | null} */
  choiceAt(event) {
    if (closest(event, "[data-act]")) return null;
    const box = this.viewport.getBoundingClientRect();
    const { x, y, k } = this.camera;
    const [left, top] = [(event.clientX - box.left - x) / k, (event.clientY - box.top - y) / k];
    const found = this.signs.groupAt(left, top) ?? this.stage.at(left, top, !this.film.fusing);
    return found && this.choiceOf(found.item.id);
  }

  // Unfold the groups that hide an item, fetch missing levels, and select it, unless the selection changed meanwhile.
  /** @param {string} id @param {Selecting} [options] */
  async goTo(id, options = {}) {
    const asked = (this.going += 1);
    try {
      const path = this.placedOf(id) ? [] : await this.graph.pathTo(id, !this.part);
      const folded = path.filter((gid) => !this.graph.unfolded.has(gid));
      if (folded.length) await this.graph.load(folded);
      if (asked !== this.going) return;
      if (folded.length) this.graph.unfold(folded), this.refresh(undefined, true);
      const choice = this.choiceOf(id);
      if (choice) return this.select(choice, options);
      // A kernel or a line has no box here: highlight the items that belong to it.
      this.elsewhere.light({ id, links: [] });
      const [first] = this.visibleRelated(id, []);
      if (first) this.camera.reveal(first, options.toMiddle, options.atOnce);
    } catch (error) {
      if (!(error instanceof NotFound)) this.failed(error, () => this.goTo(id, options));
    }
  }

  /** @param {Choice | null} choice @param {Selecting} [given] */
  select(choice, { quiet = false, reveal = true, atOnce = false, toMiddle = false, low = false, wait = 0 } = {}) {
    this.choice = choice;
    this.elsewhere.selected = null;
    this.going += 1;
    this.stage.mark("related", new Set());
    this.relight();
    this.spoken.textContent = choice ? [choice.label, choice.detail].filter(Boolean).join(", ") : "";
    const placed = choice && this.placedOf(choice.id);
    if (placed && reveal) this.camera.reveal(placed, toMiddle, atOnce, low);
    this.minimap.follow();
    this.tell("select", choice);
    this.remark();
    if (quiet) return;
    clearTimeout(this.later);
    const report = () => this.python.report("selected", choice?.id ?? null);
    this.python.outdate();
    if (wait) this.later = setTimeout(report, wait);
    else report();
  }

  // The selection's edges over all levels; for a folded selection, highlight the group that hides it.
  /** @override */
  relight() {
    const placed = this.choice && this.placedOf(this.choice.id);
    this.stage.light("lit", edgesAround(this.graph, this.picture, placed).lines, true);
    this.stage.mark("selected", new Set(this.choice ? [this.choice.id] : []));
    const hidden = !placed && this.choice ? (this.graph.byId.get(this.choice.id) ?? []) : [];
    this.stage.mark("holds", new Set(hidden.flatMap((place) => this.graph.shown(place, this.picture)?.item.id ?? [])));
    const element = placed && this.stage.drawn.get(placed);
    if (element) this.root.setAttribute("aria-activedescendant", element.id);
    else this.root.removeAttribute("aria-activedescendant");
  }

  /** @override */
  afterShow() {
    this.tools.suit(this.graph, this.picture);
    this.relight();
    this.stage.light("near", []);
    this.folds.mark();
    this.search.ring();
    this.elsewhere.relight();
  }

  /** @override */
  afterMove() {
    this.inStep.moved();
  }

  /** @override */
  atRest() {
    this.folds.later();
    if (this.camera.by === "user" && this.graph === this.main) keepLook(this.graph, this.camera);
  }

  /** @param {MouseEvent} event */
  click(event) {
    this.root.focus({ preventScroll: true });
    if (this.pointer.wasDrag()) return;
    const sign = closest(event, "[data-act]");
    if (sign) {
      const group = Number(sign.closest("[data-group]")?.getAttribute("data-group"));
      return this.folds.toggle(group, sign.getAttribute("data-act") === "deep" || event.shiftKey);
    }
    const choice = this.choiceAt(event);
    this.hovered.over(null);
    if (this.focus.picks(choice)) return;
    if (choice?.id !== this.choice?.id) this.select(choice, { reveal: false });
  }

  /** @param {MouseEvent} event */
  doubleClick(event) {
    const choice = this.choiceAt(event);
    if (choice?.item.g !== undefined) this.folds.toggle(choice.item.g, event.shiftKey);
    else this.activate(choice);
  }

  /** @param {Choice | null} choice */
  activate(choice) {
    if (choice) this.python.trigger("activated", choice.id);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || closest(event, "input, select")) return;
    const act = keyOf(this, event.key, event.shiftKey);
    if (!act || (closest(event, "button") && ["Enter", " "].includes(event.key))) return;
    event.preventDefault();
    event.stopPropagation();
    this.hovered.over(null);
    act();
  }

  /** @param {number} across @param {number} down @param {boolean} groups */
  walk(across, down, groups) {
    const placed = walkFrom(this, across, down, groups);
    if (placed) this.select(this.choiceOf(placed.item.id), { wait: 150 });
  }

  // A graph that the server has dropped is stored again when Python runs; then request it again.
  /** @param {unknown} error @param {() => void} [again] */
  failed(error, again) {
    const words = error instanceof Error ? error.message : String(error);
    if (!(error instanceof Lost)) return this.notice.say(words, again);
    this.python.trigger("lost", true);
    this.retries += 1;
    if (again && this.retries <= MOST_RETRIES) setTimeout(again, RETRY_MS);
    else this.notice.say(words, again);
  }
}

/** @param {Arguments<GraphData & PlaceData>} args */
export default function (args) {
  const view = views.get(args.parentElement) ?? new GraphView(args);
  views.set(args.parentElement, view);
  view.update(args);
  view.connect();
  return () => view.disconnect();
}
