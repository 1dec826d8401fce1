// Folding: groups open in place and close again; levels that are not here yet are fetched, those in view ahead of time.
/** @import { GraphView } from "./view.js" */

const PREFETCHED = 12;
const IDLE_MS = 300;

export class Folds {
  /** @type {Set<number>} */
  waiting = new Set();
  /** @type {Set<number>} */
  refused = new Set();
  timer = 0;

  /** @param {GraphView} view */
  constructor(view) {
    this.view = view;
  }

  /** @param {number} gid @param {boolean} [deep] */
  async toggle(gid, deep = false) {
    const { view } = this;
    if (!deep && view.graph.unfolded.has(gid)) return this.close([gid], gid);
    const { graph } = view;
    await this.fetched(gid, () => (deep ? graph.loadBelow(gid) : graph.load([gid])));
    if (view.graph !== graph || !graph.levels.has(gid)) return;
    this.open(deep ? [gid, ...graph.below(gid).filter((below) => graph.levels.has(below))] : [gid], gid);
  }

  /** @param {number[]} gids @param {number | null} anchor */
  open(gids, anchor) {
    const { view } = this;
    view.graph.unfold(gids);
    view.refresh(anchor);
    view.inStep.send({ ids: this.idsOf(gids), open: true });
  }

  /** @param {number[]} gids @param {number | null} anchor */
  close(gids, anchor) {
    const { view } = this;
    view.graph.fold(gids);
    view.refresh(anchor);
    view.inStep.send({ ids: this.idsOf(gids), open: false });
  }

  /** @param {Iterable<number>} gids */
  idsOf(gids) {
    return [...gids].flatMap((gid) => this.view.graph.groups.get(gid)?.id ?? []);
  }

  // Fetch with a quiet mark on the group; what went wrong stands there until it is tried again.
  /** @param {number} gid @param {() => Promise<void>} ask */
  async fetched(gid, ask) {
    if (this.waiting.has(gid)) return;
    this.waiting.add(gid);
    this.refused.delete(gid);
    this.mark();
    try {
      await ask();
    } catch (error) {
      this.refused.add(gid);
      this.view.failed(error, () => this.toggle(gid));
    }
    this.waiting.delete(gid);
    this.mark();
  }

  mark() {
    this.view.stage.mark("busy", new Set(this.idsOf(this.waiting)));
    this.view.stage.mark("failed", new Set(this.idsOf(this.refused)));
  }

  /** @param {boolean} open */
  async all(open) {
    const { view } = this;
    const { graph } = view;
    if (!open) return this.close([...graph.unfolded], null);
    view.busy(true);
    try {
      const missing = graph.missing([...graph.groups.keys()]).length || graph.groups.size < graph.size.groups;
      if (missing) await graph.loadBelow(-1);
      if (view.graph === graph) this.open([...graph.groups.keys()].filter((gid) => graph.levels.has(gid)), null);
    } catch (error) {
      view.failed(error, () => this.all(true));
    }
    view.busy(false);
  }

  // Another view in step folded these; where this graph has groups of the same id, it does the same, level by level.
  /** @param {string[]} ids @param {boolean} open */
  async followed(ids, open) {
    const { view } = this;
    const { graph } = view;
    const wanted = new Set(ids);
    const differing = () =>
      [...graph.groups].filter(([gid, item]) => wanted.has(item.id) && graph.unfolded.has(gid) !== open).map(([gid]) =>
        gid
      );
    const [first] = differing();
    if (first === undefined) return;
    if (!open) graph.fold(differing());
    for (let gids = differing(); open && gids.length; gids = differing()) {
      await graph.load(gids).catch(() => null);
      const here = gids.filter((gid) => graph.levels.has(gid));
      if (!here.length) break;
      graph.unfold(here);
    }
    if (view.graph === graph) view.refresh(first);
  }

  // Levels that were unfolded when this graph was last looked at.
  async recall() {
    const { graph } = this.view;
    if (!graph.missing(graph.wanted).length) return;
    await graph.load(graph.wanted).catch(() => null);
    graph.unfold(graph.wanted.filter((gid) => graph.levels.has(gid)));
    if (this.view.graph === graph) this.view.refresh(null);
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.prefetch(), IDLE_MS);
  }

  prefetch() {
    const { graph, stage, part, camera } = this.view;
    if (part || camera.far) return;
    const seen = [...stage.drawn.keys()].flatMap(({ item, open }) => item.g === undefined || open ? [] : item.g);
    const missing = graph.missing(seen).filter((gid) => !this.refused.has(gid)).slice(0, PREFETCHED);
    if (missing.length) graph.load(missing).catch(() => null);
  }
}
