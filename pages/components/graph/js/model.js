// One graph: its loaded levels, its unfolded groups, the relations of its items; and the server that has the other
// levels.
import { filed, remember, remembered } from "./dom.js";
import { EMBEDDED, Embedded } from "./embedded.js";
import { lookOf } from "./look.js";
import { isHull } from "./picture/compose.js";
/** @import { FoundData, HitsData, LevelData, LevelsData, PartData, ProblemData } from "../../js/wire.d.ts" */
/** @import { Content, GroupItem, LaidOut, Level, NodeItem, Picture, Place, Placed } from "./types.d.ts" */

const MOST_REMEMBERED = 300;
const LEFT_MS = 1000;

export class Lost extends Error {}
export class NotFound extends Error {}

// The routes of one graph on the server; everything is content-addressed.
class Source {
  hasServer = true;

  /** @param {string} digest */
  constructor(digest) {
    this.digest = digest;
  }

  /** @param {string} route @param {Record<string, string | number>} [parameters] */
  url(route, parameters = {}) {
    const url = new URL(`graph/${encodeURIComponent(this.digest)}/${route}`, document.baseURI);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value));
    return url;
  }

  /** @param {string} route @param {Record<string, string | number>} parameters */
  async get(route, parameters) {
    const answer = await fetch(this.url(route, parameters));
    if (answer.ok) return answer.json();
    /** @type {ProblemData} */
    const told = await answer.json().catch(() => ({}));
    if (told.lost) throw new Lost("The server has forgotten this graph.");
    if (answer.status === 413) throw new Error("This is too large to unfold at once.");
    if (answer.status === 404) throw new NotFound("There is no such thing in this graph.");
    throw new Error(`The server answered ${answer.status}.`);
  }

  /** @param {number[]} gids @returns {Promise<LevelsData>} */
  levels(gids) {
    return this.get("levels", { ids: gids.join(",") });
  }

  /** @param {number} gid @returns {Promise<LevelsData>} */
  below(gid) {
    return this.get("all", { under: gid });
  }

  /** @param {string} words @returns {Promise<HitsData>} */
  search(words) {
    return this.get("search", { q: words });
  }

  /** @param {Record<string, string | number>} ends @returns {Promise<PartData>} */
  part(ends) {
    return this.get("part", ends);
  }

  /** @param {string} id @returns {Promise<FoundData>} */
  find(id) {
    return this.get("find", { id });
  }
}

// An empty graph, for a view without data.
/** @type {Content} */
export const NOTHING = {
  digest: "",
  root: { id: -1, note: "", parts: [], items: [], edges: [] },
  size: { nodes: 0, edges: 0, groups: 0 },
};

export class Graph {
  /** @param {Content} content @param {boolean} [recall] */
  constructor({ digest, root, opened = {}, size, overlays = [], frames = [] }, recall = true) {
    this.digest = digest;
    this.size = size;
    this.overlays = overlays;
    this.frames = frames;
    const embedded = EMBEDDED.get(digest);
    this.source = embedded ? new Embedded() : new Source(digest);
    /** @type {Map<number, Level>} */
    this.levels = new Map();
    /** @type {Map<number, number>} */
    this.parents = new Map();
    /** @type {Set<number>} */
    this.unfolded = new Set();
    /** @type {Map<string, Place[]>} */
    this.byId = new Map();
    /** @type {Map<string, Place[]>} */
    this.byLink = new Map();
    /** @type {Map<number, GroupItem>} */
    this.groups = new Map();
    this.take(-1, root);
    this.takeAll(opened);
    this.takeAll(embedded ?? {});
    const stored = recall ? lookOf(digest)?.unfolded ?? remembered(`folds:${digest}`) : null;
    /** @type {number[]} */
    this.wanted = Array.isArray(stored) ? stored : [];
    for (const gid of stored ? this.wanted : Object.keys(opened).map(Number)) {
      if (this.levels.has(gid)) this.unfolded.add(gid);
    }
    this.recall = recall;
    this.page = location.pathname;
  }

  // If another page is shown by then, the next visit begins as the first did, unless the URL says otherwise.
  leave() {
    setTimeout(() => location.pathname === this.page || remember(`folds:${this.digest}`, null), LEFT_MS);
  }

  // Store a level, and index its selectable items.
  /** @param {number} gid @param {LevelData} told */
  take(gid, told) {
    if (this.levels.has(gid)) return;
    const { items } = /** @type {LaidOut} */ (told);
    /** @type {Level} */
    const level = { ...told, items, nodeAt: new Map(), in: items.map(() => []), out: items.map(() => []) };
    this.levels.set(gid, level);
    level.edges.forEach((edge, index) => (level.out[edge.s].push(index), level.in[edge.t].push(index)));
    items.forEach((item, index) => {
      if (item.g !== undefined) this.parents.set(item.g, gid), this.groups.set(item.g, item);
      else level.nodeAt.set(item.i, index);
      this.know({ gid, index, item, id: item.id, links: item.links ?? [] });
    });
  }

  /** @param {Record<string, LevelData>} levels */
  takeAll(levels) {
    for (const [gid, level] of Object.entries(levels)) this.take(Number(gid), level);
  }

  /** @param {Place} place */
  know(place) {
    filed(this.byId, place.id, place);
    for (const link of place.links) filed(this.byLink, link, place);
  }

  // The groups around a level, outermost first, including itself.
  /** @param {number} gid */
  path(gid) {
    const path = [];
    for (let at = gid; at !== -1; at = this.parents.get(at) ?? -1) path.unshift(at);
    return path;
  }

  // The groups around an item; the server is asked if the item is not loaded, except for a part of a graph.
  /** @param {string} id @param {boolean} whole */
  async pathTo(id, whole) {
    const place = this.byId.get(id)?.[0];
    if (place) return this.path(place.gid);
    return whole ? (await this.source.find(id)).path : [];
  }

  /** @param {number[]} path */
  pathWords(path) {
    return path.map((gid) => this.groups.get(gid)?.label).filter(Boolean).join(" › ");
  }

  // The item on screen that stands for a place: itself, or the folded group that hides it.
  /** @param {Place} place @param {Picture} picture @returns {Placed | null} */
  shown(place, picture) {
    const folded = this.path(place.gid).find((gid) => !picture.open.has(gid));
    if (folded === undefined) return picture.levels.get(place.gid)?.[place.index] ?? null;
    const parent = this.parents.get(folded) ?? -1;
    const index = this.levels.get(parent)?.items.findIndex((item) => item.g === folded) ?? -1;
    return picture.levels.get(parent)?.[index] ?? null;
  }

  // The places that belong to another view's selection: the same id, a link in either direction, or a common link.
  /** @param {string | null} id @param {string[]} [links] */
  related(id, links = []) {
    /** @type {Set<Place>} */
    const found = new Set();
    for (const key of id === null ? links : [id, ...links]) {
      for (const place of this.byId.get(key) ?? []) found.add(place);
      for (const place of this.byLink.get(key) ?? []) found.add(place);
    }
    return [...found];
  }

  /** @param {number[]} gids */
  missing(gids) {
    return gids.filter((gid) => !this.levels.has(gid));
  }

  /** @param {number[]} gids */
  async load(gids) {
    const missing = this.missing(gids);
    if (!missing.length) return;
    this.takeAll((await this.source.levels(missing)).levels);
  }

  /** @param {number} gid */
  async loadBelow(gid) {
    this.takeAll((await this.source.below(gid)).levels);
  }

  // The kernel launches among a group's direct members: they unfold together with the group.
  /** @param {number} gid */
  hulls(gid) {
    return (this.levels.get(gid)?.items ?? []).flatMap((item) => item.g !== undefined && isHull(item) ? [item.g] : []);
  }

  /** @param {number} gid */
  below(gid) {
    return [...this.groups.keys()].filter((group) => group !== gid && this.path(group).includes(gid));
  }

  /** @param {number[]} gids */
  unfold(gids) {
    for (const gid of gids) this.unfolded.add(gid);
    this.store();
  }

  /** @param {number[]} gids */
  fold(gids) {
    for (const gid of gids) this.unfolded.delete(gid);
    this.store();
  }

  store() {
    if (this.recall) remember(`folds:${this.digest}`, [...this.unfolded].slice(0, MOST_REMEMBERED));
  }
}

// A part of a graph, cut out by the server: one level without folded groups.
/** @param {Graph} graph @param {PartData} answer */
export function partOf(graph, { level }) {
  const size = { nodes: level.items.length, edges: level.edges.length, groups: 0 };
  return new Graph({ digest: graph.digest, root: level, size, overlays: graph.overlays }, false);
}
