// The view: selection, hover, keys, and the bus on which views of one channel tell each other of both.
import { COMMANDS, EVENTS, isDark, tell } from "../../js/shared.js";
import { Drawing } from "./drawing.js";
import { Graph, Lost, NotFound } from "./model.js";
import { fillTip, keyOf } from "./tools.js";
import { edgesAround, walkFrom } from "./walk.js";
/** @import { CommandData, GraphData, PlaceData } from "../../js/wire.d.ts" */
/** @import { Arguments, Choice, Saying, Selecting, Spot, Told } from "./types.d.ts" */

const RETRY_MS = 800;
const MOST_RETRIES = 3;
const MOST_ASKED = 4;
const views = new WeakMap();

export class GraphView extends Drawing {
  /** @type {string} */
  source;
  /** @type {string} */
  channel;
  /** @type {string} */
  step;
  /** @type {string} */
  digest;
  /** @type {number} */
  serial;
  /** @type {number} */
  going;
  /** @type {number} */
  retries;
  /** @type {Graph} */
  main;
  /** @type {Graph | null} */
  part;
  /** @type {Choice | null} */
  hovered;
  /** @type {Told | null} */
  foreign;
  /** @type {Arguments["setStateValue"]} */
  setStateValue;
  /** @type {Arguments["setTriggerValue"]} */
  setTriggerValue;

  /** @param {HTMLElement} parent */
  constructor(parent) {
    super(parent);
    Object.assign(this, { serial: 0, going: 0, choice: null, hovered: null, retries: 0, part: null });
    this.viewport.onclick = (event) => this.click(event);
    this.viewport.ondblclick = (event) => this.doubleClick(event);
    this.viewport.onmousemove = (event) => this.hover(this.choiceAt(event), event);
    this.viewport.onmouseleave = () => this.hover(null);
    this.root.onkeydown = (event) => this.key(event);
    this.resized = new ResizeObserver(() =>
      this.picture && (this.camera.moved ? this.camera.apply() : this.camera.show(this.picture))
    );
    /** @type {Record<string, (event: any) => void>} */
    this.listeners = {
      [EVENTS.select]: ({ detail }) => this.fromElsewhere(detail, "related"),
      [EVENTS.hover]: ({ detail }) => this.fromElsewhere(detail, "preview"),
      [EVENTS.ask]: ({ detail }) =>
        detail.channel === this.channel && detail.source !== this.source && this.choice &&
        this.tell(EVENTS.select, this.choice),
      [EVENTS.command]: ({ detail }) => this.obey(detail),
    };
  }

  /** @param {Arguments} args */
  update({ data, setStateValue, setTriggerValue }) {
    Object.assign(this, {
      setStateValue,
      setTriggerValue,
      channel: data.channel,
      source: data.source,
      step: data.step ?? "",
      metrics: data.metrics,
      classes: data.classes,
    });
    this.root.style.height = `${data.height}px`;
    const dark = isDark(this.root);
    const repainted = dark !== this.dark && this.picture;
    this.dark = dark;
    this.root.dataset.theme = dark ? "dark" : "light";
    const digest = `${data.digest} ${data.morph?.digest ?? ""}`;
    if (this.digest !== digest) this.start(data, digest);
    else if (repainted) this.overlays.over(this.graph, dark), this.repaint();
  }

  /** @param {GraphData & PlaceData} data @param {string} digest */
  start(data, digest) {
    const kept = this.choice?.id;
    Object.assign(this, {
      digest,
      frameWish: data.frame,
      context: null,
      part: null,
      choice: null,
      hovered: null,
      foreign: null,
    });
    this.focus.chip.hidden = true;
    this.focus.home = null;
    this.tip.hidden = this.notice.hidden = true;
    for (const name of ["selected", "related", "preview", "near", "hit", "owner", "at", "holds"]) {
      this.stage.mark(name, new Set());
    }
    this.overlays.name ||= data.overlay ?? "";
    this.main = new Graph(data);
    this.morph.over(this.main, data.morph);
    this.setGraph(this.main);
    this.search.clear();
    this.folds.recall();
    if (kept !== undefined && this.placedOf(kept)) this.select(this.choiceOf(kept), { quiet: true, atOnce: true });
  }

  /** @param {Graph} graph @param {Spot} [camera] @override */
  setGraph(graph, camera) {
    if (graph !== this.part) this.main = graph;
    super.setGraph(graph, camera);
  }

  connect() {
    for (const [type, listener] of Object.entries(this.listeners)) globalThis.addEventListener(type, listener);
    this.inStep.connect();
    this.resized.observe(this.viewport);
    const waiting = COMMANDS.get(this.source);
    if (waiting) this.obey(waiting);
    if (!this.choice) {
      tell(EVENTS.ask, { channel: this.channel, source: this.source });
    }
  }

  disconnect() {
    for (const [type, listener] of Object.entries(this.listeners)) globalThis.removeEventListener(type, listener);
    this.inStep.disconnect();
    this.resized.disconnect();
    this.film.stop();
    for (const timer of [this.later, this.settling, this.folds.timer]) clearTimeout(timer);
  }

  // Python's wish; one that was written before the user's last click here is out of date.
  /** @param {CommandData} wish */
  obey({ source, id, serial, frame = null }) {
    if (source !== this.source || (this.serial && serial !== this.serial)) return;
    this.serial = serial;
    if (frame !== null && frame !== this.film.at) this.film.go(frame, true);
    if (id === (this.choice?.id ?? null)) return;
    if (id === null) return this.select(null, { quiet: true });
    this.goTo(id, { quiet: true, toMiddle: true, atOnce: !this.camera.moved });
  }

  /** @param {string} id @returns {Choice | null} */
  choiceOf(id) {
    const place = this.graph.byId.get(id)?.find(({ gid }) => this.picture.levels.has(gid)) ??
      this.graph.byId.get(id)?.[0];
    return place
      ? {
        id,
        links: place.links,
        item: place.item,
        row: place.row ?? null,
        label: (place.row ?? place.item).label,
        detail: (place.row ?? place.item).detail,
      }
      : null;
  }

  /** @param {any} event @returns {Choice | null} */
  choiceAt(event) {
    if (!this.picture || event.target.closest?.("[data-act]")) return null;
    const box = this.viewport.getBoundingClientRect();
    const { x, y, k } = this.camera;
    const found = this.stage.at((event.clientX - box.left - x) / k, (event.clientY - box.top - y) / k);
    return found && this.choiceOf((found.row ?? found.placed.item).id);
  }

  // Unfold what hides an item, fetching what is not here, and select it, unless something else was wanted meanwhile.
  /** @param {string} id @param {Selecting} [options] */
  async goTo(id, options = {}) {
    const asked = (this.going += 1);
    try {
      const path = this.placedOf(id) ? [] : await this.pathTo(id);
      const folded = path.filter((gid) => !this.graph.unfolded.has(gid));
      if (folded.length) await this.graph.load(folded);
      if (asked !== this.going) return;
      if (folded.length) this.graph.unfold(folded), this.refresh(undefined, true);
      const choice = this.choiceOf(id);
      if (choice) return this.select(choice, options);
      // A kernel or a line has no box of its own here: what belongs to it is lit.
      this.foreign = { id, links: [] };
      this.markRelated("related", this.foreign);
      const [first] = this.visibleRelated(id, []);
      if (first) this.camera.reveal(first, options.toMiddle, options.atOnce);
    } catch (error) {
      if (!(error instanceof NotFound)) this.failed(error, () => this.goTo(id, options));
    }
  }

  /** @param {string} id */
  async pathTo(id) {
    const place = this.graph.byId.get(id)?.[0];
    if (place) return this.graph.path(place.gid);
    return this.part ? [] : (await this.graph.source.find(id)).path;
  }

  /** @param {number[]} path */
  pathWords(path) {
    return (path ?? []).map((gid) => this.graph.groups.get(gid)?.label).filter(Boolean).join(" › ");
  }

  /** @param {Choice | null} choice @param {Selecting} [given] */
  select(choice, { quiet = false, reveal = true, atOnce = false, toMiddle = false, low = false, wait = 0 } = {}) {
    Object.assign(this, { choice, foreign: null, going: this.going + 1 });
    this.stage.mark("related", new Set());
    this.relight();
    this.spoken.textContent = choice ? [choice.label, choice.detail].filter(Boolean).join(", ") : "";
    const placed = choice && this.placedOf(choice.id);
    if (placed && reveal) this.camera.reveal(placed, toMiddle, atOnce, low);
    this.tell(EVENTS.select, choice);
    this.remark();
    if (quiet) return;
    clearTimeout(this.later);
    const report = () => this.report("selected", choice?.id ?? null);
    // What Python wrote before this choice is out of date at once.
    this.serial += 1;
    if (wait) this.later = setTimeout(report, wait);
    else report();
  }

  // The selection's edges over all levels; a selection that is folded away lights the group that hides it.
  /** @override */
  relight() {
    const placed = this.choice && this.placedOf(this.choice.id);
    const lines = placed
      ? edgesAround(this.graph, this.picture, placed).lines.filter((line) =>
        this.stage.visible(line.edge ?? line.of.edge)
      )
      : [];
    this.stage.light("lit", lines, true);
    this.stage.mark("selected", new Set(this.choice ? [this.choice.id] : []));
    const hidden = !placed && this.choice ? (this.graph.byId.get(this.choice.id) ?? []) : [];
    this.stage.mark("holds", new Set(hidden.map((place) => this.graph.shown(place, this.picture)?.item.id)));
    const element = placed && this.stage.drawn.get(placed);
    if (element) this.root.setAttribute("aria-activedescendant", element.id);
    else this.root.removeAttribute("aria-activedescendant");
  }

  /** @override */
  afterShow() {
    this.relight();
    this.stage.light("near", []);
    this.folds.mark();
    this.search.ring();
    if (this.foreign) this.markRelated("related", this.foreign);
  }

  /** @param {string} name @param {any} value */
  report(name, value) {
    this.serial += 1;
    this.setStateValue(name, value);
    this.setStateValue("serial", this.serial);
  }

  /** @param {string} type @param {Choice | null} choice */
  tell(type, choice) {
    const detail = { channel: this.channel, source: this.source, id: choice?.id ?? null, links: choice?.links ?? [] };
    tell(type, detail);
  }

  /** @param {string | null} id @param {string[]} links */
  visibleRelated(id, links) {
    const shown = this.graph.related(id, links).map((place) => this.graph.shown(place, this.picture)).filter(Boolean);
    return [...new Set(shown)].sort((a, b) => a.y - b.y || a.x - b.x);
  }

  /** @param {Saying} said @param {string} mark */
  fromElsewhere({ channel, source, id, links = [] }, mark) {
    if (channel !== this.channel || source === this.source || !this.picture) return;
    const told = id === null && !links.length ? null : { id, links };
    this.markRelated(mark, told);
    if (mark === "preview") return;
    // Selection is one thing: what is selected elsewhere is no longer selected here.
    this.choice = null;
    this.foreign = told;
    this.relight();
    const [first] = told ? this.visibleRelated(id, links) : [];
    if (first) this.camera.reveal(first);
    else if (told) this.askWhere([id, ...links]);
  }

  /** @param {string} mark @param {Told | null} told */
  markRelated(mark, told) {
    const places = told ? this.graph.related(told.id, told.links) : [];
    const ids = places.map((
      place,
    ) => (this.picture.levels.has(place.gid) ? place.id : this.graph.shown(place, this.picture)?.item.id));
    this.stage.mark(mark, new Set(ids));
    this.remark();
  }

  // The server knows in which folded group something is that is not here yet.
  /** @param {(string | null)[]} ids */
  async askWhere(ids) {
    const { graph } = this;
    for (const id of ids.filter((each) => each !== null).slice(0, MOST_ASKED)) {
      const found = await graph.source.find(id).catch(() => null);
      const folded = found?.path.find((gid) => !this.picture.open.has(gid));
      const group = graph === this.graph && folded !== undefined && graph.groups.get(folded);
      if (!group) continue;
      this.stage.mark("related", new Set([group.id]));
      return this.camera.reveal(this.placedOf(group.id));
    }
  }

  /** @param {any} event */
  click(event) {
    this.root.focus({ preventScroll: true });
    if (this.pointer.wasDrag()) return;
    const sign = event.target.closest?.("[data-act]");
    if (sign) {
      return this.folds.toggle(
        Number(sign.closest("[data-group]").dataset.group),
        sign.dataset.act === "deep" || event.shiftKey,
      );
    }
    const choice = this.choiceAt(event);
    if (this.focus.picks(choice)) return;
    if (choice?.id !== this.choice?.id) this.select(choice, { reveal: false });
  }

  /** @param {any} event */
  doubleClick(event) {
    const choice = this.choiceAt(event);
    if (choice?.item.g !== undefined && !choice.row) this.folds.toggle(choice.item.g, event.shiftKey);
    else this.activate(choice);
  }

  /** @param {Choice | null} choice */
  activate(choice) {
    if (choice) this.setTriggerValue("activated", choice.id);
  }

  /** @param {Choice | null} choice @param {MouseEvent} [event] */
  hover(choice, event) {
    if (!this.picture) return;
    if (event?.buttons) choice = null;
    if (choice) this.moveTip(event);
    if (choice?.id === this.hovered?.id) return;
    this.hovered = choice;
    const placed = choice && this.placedOf(choice.id);
    const around = placed ? edgesAround(this.graph, this.picture, placed) : { lines: [], outs: [], ins: [] };
    this.stage.light("near", around.lines.filter((line) => this.stage.visible(line.edge ?? line.of.edge)));
    this.stage.mark(
      "near",
      new Set(choice ? [choice.id, ...[...around.outs, ...around.ins].map(({ item }) => item.id)] : []),
    );
    this.viewport.classList.toggle("pointing", choice !== null);
    this.tip.hidden = !choice;
    if (choice) fillTip(this.tip, choice, this), this.moveTip(event);
    this.tell(EVENTS.hover, choice);
    this.remark();
  }

  /** @param {MouseEvent} event */
  moveTip(event) {
    const box = this.root.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const left = Math.max(4, Math.min(x + 14, box.width - this.tip.offsetWidth - 6));
    const top = y + 18 + this.tip.offsetHeight > box.height ? y - 10 - this.tip.offsetHeight : y + 18;
    this.tip.style.transform = `translate(${left}px, ${Math.max(4, top)}px)`;
  }

  /** @param {any} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select")) return;
    const act = keyOf(this, event);
    if (!act || (event.target.closest("button") && ["Enter", " "].includes(event.key))) return;
    event.preventDefault();
    event.stopPropagation();
    this.hover(null);
    act();
  }

  /** @param {number} across @param {number} down */
  walk(across, down) {
    const { placed, row } = walkFrom(this, across, down);
    if (placed) this.select(this.choiceOf((row ?? placed.item).id), { wait: 150 });
  }

  // A graph that the server has forgotten is registered anew when Python runs; then it is asked for again.
  /** @param {any} error @param {() => void} [again] */
  failed(error, again) {
    if (!(error instanceof Lost)) return this.say(error.message ?? String(error), again);
    this.setTriggerValue("lost", true);
    this.retries += 1;
    if (again && this.retries <= MOST_RETRIES) setTimeout(again, RETRY_MS);
    else this.say(error.message, again);
  }
}

/** @param {Arguments} args */
export default function (args) {
  const { parentElement } = args;
  let view = views.get(parentElement);
  if (!view) views.set(parentElement, view = new GraphView(parentElement));
  view.update(args);
  view.connect();
  return () => view.disconnect();
}
