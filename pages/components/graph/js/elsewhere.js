// Selection and hover in the other views of the channel: highlight the related items here.
import { COMMENTED, listen } from "../../js/shared.js";
import { make } from "./dom.js";
import { drawPath, middleOf } from "./picture/curves.js";
import { boundsOf } from "./picture/grid.js";
/** @import { Commented, Saying, Speaker, Told } from "../../js/types.d.ts" */
/** @import { Drawing } from "./drawing.js" */
/** @import { Graph } from "./model.js" */
/** @import { Line, Placed } from "./types.d.ts" */

const MOST_ASKED = 4;
const MOST_FOLDED = 20;
// Places of the words along a line.
const SPOTS = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];

export class Elsewhere {
  /** @type {Told | null} */
  selected = null;
  /** @type {Commented} */
  comments = COMMENTED;
  /** @type {readonly string[]} */
  outlined = [];
  tie = "";
  /** The launches that the view has been brought to. @type {readonly string[]} */
  framed = [];
  /** The groups around items that are not loaded yet. @type {Map<string, number[]>} */
  folded = new Map();
  /** @type {Graph | null} */
  searched = null;

  /** @param {Drawing} drawing */
  constructor(drawing) {
    this.drawing = drawing;
  }

  /** @param {AbortSignal} signal */
  connect(signal) {
    listen("select", (said) => this.hears(said) && this.select(said), signal);
    listen("hover", (said) => this.hears(said) && this.mark("preview", toldOf(said)), signal);
    listen("comments", (told) => this.comment(told), signal);
    this.comment(COMMENTED);
    for (const type of ["pointerdown", "wheel"]) {
      this.drawing.viewport.addEventListener(type, () => (this.framed = []), { signal, passive: true });
    }
  }

  // True if a message comes from another view of the channel.
  /** @param {Speaker} speaker */
  hears({ channel, source }) {
    const { data } = this.drawing;
    return channel === data.channel && source !== data.source;
  }

  /** @param {Saying} said */
  select(said) {
    const { drawing } = this;
    // A code view that just opened shows a line by itself: nobody has selected it.
    if (said.initial && drawing.choice) return;
    this.light(toldOf(said));
    // There is only one selection: another view's selection ends the one here.
    drawing.choice = null;
    drawing.relight();
    const { selected } = this;
    if (!selected) return;
    const [first] = drawing.visibleRelated(selected.id, selected.links);
    if (first) drawing.camera.reveal(first);
    else this.askWhere([selected.id, ...selected.links]);
  }

  /** @param {Told | null} told */
  light(told) {
    this.selected = told;
    this.mark("related", told);
  }

  /** @param {Commented} told */
  async comment(told) {
    this.comments = told;
    this.sign();
    if (await this.locate([...told.commented, ...told.pinned])) this.sign();
  }

  // Ask the server for the folded groups around items that are not loaded yet; true if there are such items.
  /** @param {readonly string[]} ids */
  async locate(ids) {
    const { graph } = this.drawing;
    if (graph !== this.searched) this.folded.clear();
    this.searched = graph;
    const unknown = ids.filter((id) => !graph.byId.has(id) && !this.folded.has(id)).slice(0, MOST_FOLDED);
    for (const id of unknown) this.folded.set(id, (await graph.source.find(id).catch(() => null))?.path ?? []);
    return unknown.length > 0 && graph === this.drawing.graph;
  }

  // True if an item is newly outlined.
  /** @param {readonly string[]} ids @param {string} [tie] the words on the line between two of them */
  outline(ids, tie = "not fused") {
    const before = this.outlined;
    [this.outlined, this.tie] = [ids, tie];
    this.sign();
    return ids.some((id) => !before.includes(id));
  }

  // The outlined boxes.
  get boxes() {
    return this.boxesOf(this.outlined);
  }

  /** @param {readonly string[]} ids */
  boxesOf(ids) {
    return [...new Set(ids.flatMap((id) => this.shown(id)))].flatMap((id) => this.drawing.placedOf(id) ?? []);
  }

  // Show these launches in the middle, also when the view gets another size, until the user looks elsewhere.
  /** @param {readonly string[]} ids */
  frame(ids) {
    this.framed = ids;
    this.reveal();
  }

  // Bring all framed items into the middle, or all outlined items into view.
  reveal() {
    const { boxes, drawing: { camera, choice } } = this;
    const framed = this.framed[0] === choice?.id ? this.boxesOf(this.framed) : [];
    if (framed.length) camera.fit(boundsOf(framed), 1);
    else if (boxes.length) camera.panTo(boxes, true);
  }

  sign() {
    for (const [name, ids] of Object.entries({ ...this.comments, outlined: this.outlined })) {
      this.drawing.stage.mark(name, new Set(ids.flatMap((/** @type {string} */ id) => this.shown(id))));
    }
    const { boxes, drawing: { stage: { ties } } } = this;
    ties.replaceChildren();
    if (boxes.length === 2) drawTie(ties, boxes[0], boxes[1], this.tie, this.drawing.picture.edges);
    this.drawing.signs.tie();
  }

  // An item that is in a folded group is signed at the group.
  /** @param {string} id @returns {string[]} */
  shown(id) {
    const { graph, picture } = this.drawing;
    const places = graph.byId.get(id) ?? [];
    if (!places.length) {
      const folded = this.folded.get(id)?.find((gid) => !picture.open.has(gid));
      const group = folded === undefined ? undefined : graph.groups.get(folded);
      return group ? [group.id] : [];
    }
    return places.flatMap((place) =>
      picture.levels.has(place.gid) ? place.id : graph.shown(place, picture)?.item.id ?? []
    );
  }

  // The picture has changed: highlighted items may have moved, or may be in a folded group.
  relight() {
    this.sign();
    if (this.selected) this.mark("related", this.selected);
  }

  /** @param {string} name @param {Told | null} told */
  mark(name, told) {
    const { graph, picture, stage } = this.drawing;
    const places = told ? graph.related(told.id, told.links) : [];
    const ids = places.flatMap((place) =>
      picture.levels.has(place.gid) ? place.id : graph.shown(place, picture)?.item.id ?? []
    );
    stage.mark(name, new Set(ids));
    this.drawing.remark();
  }

  // The server knows the folded group of an item that is not loaded yet.
  /** @param {(string | null)[]} ids */
  async askWhere(ids) {
    const { drawing } = this;
    const { graph } = drawing;
    for (const id of ids.filter((each) => each !== null).slice(0, MOST_ASKED)) {
      const found = await graph.source.find(id).catch(() => null);
      const folded = found?.path.find((gid) => !drawing.picture.open.has(gid));
      const group = graph === drawing.graph && folded !== undefined && graph.groups.get(folded);
      const placed = group && drawing.placedOf(group.id);
      if (!placed) continue;
      drawing.stage.mark("related", new Set([group.id]));
      return drawing.camera.reveal(placed);
    }
  }
}

// The edge between two launches that torch did not fuse, or a line; with its words at the size of the screen, a line
// of text for each part.
/** @param {Element} parent @param {Placed} first @param {Placed} second @param {string} words @param {Line[]} edges */
function drawTie(parent, first, second, words, edges) {
  const ends = [first, second];
  const edge = edges.find(({ s, t }) => ends.includes(s) && ends.includes(t));
  const [left, right] = first.x <= second.x ? ends : [second, first];
  const across = right.x - left.x - left.w;
  const [upper, lower] = first.y <= second.y ? ends : [second, first];
  const [from, to] = across > 0
    ? [[left.x + left.w, left.y + left.h / 2], [right.x, right.y + right.h / 2]]
    : [[upper.x + upper.w / 2, upper.y + upper.h], [lower.x + lower.w / 2, lower.y]];
  make("path", { d: edge ? drawPath(edge.points) : `M${from}L${to}` }, parent);
  const label = make("g", {}, parent);
  const along = SPOTS.map((part) => [0, 1].map((i) => from[i] + part * (to[i] - from[i])));
  const spots = edge ? [middleOf(edge.points)] : along;
  const parts = words.split(": ");
  const [wide, high] = [Math.max(...parts.map((part) => part.length)) * 7.4 + 16, 8 + 15 * parts.length];
  Object.assign(label, { spots, wide, high });
  make("rect", { x: -wide / 2, y: -high / 2, width: wide, height: high, rx: 9 }, label);
  parts.forEach((part, at) =>
    make("text", { y: 15 * at + 15 - 7.5 * parts.length, "text-anchor": "middle" }, label, part)
  );
}

/** @param {Saying} said @returns {Told | null} */
function toldOf({ id, links = [] }) {
  return id === null && !links.length ? null : { id, links };
}
