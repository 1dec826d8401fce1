// Folding: groups open in place and close again; missing levels are fetched, those in view ahead of time.
/** @import { Stepping } from "../../js/types.d.ts" */
/** @import { Drawing } from "./drawing.js" */
/** @import { Spot } from "./types.d.ts" */

const PREFETCHED = 12;
const IDLE_MS = 300;

export class Folds {
  /** @type {Set<number>} */
  waiting = new Set();
  /** @type {Set<number>} */
  refused = new Set();
  timer = 0;

  // `tell` reports folds to synchronised views, `failed` reports a failed fetch to the user.
  /**
   * @param {Drawing} drawing
   * @param {(said: Stepping) => void} tell
   * @param {(error: unknown, again: () => void) => void} failed
   */
  constructor(drawing, tell, failed) {
    this.drawing = drawing;
    this.tell = tell;
    this.failed = failed;
  }

  /** @param {number} gid @param {boolean} [deep] */
  async toggle(gid, deep = false) {
    const { drawing } = this;
    if (!deep && drawing.graph.unfolded.has(gid)) return this.close([gid], gid);
    const { graph } = drawing;
    await this.fetched(
      gid,
      () => (deep ? graph.loadBelow(gid) : graph.load([gid]).then(() => graph.load(graph.hulls(gid)))),
    );
    if (drawing.graph !== graph || !graph.levels.has(gid)) return;
    const inside = deep ? graph.below(gid) : graph.hulls(gid);
    this.open([gid, ...inside.filter((below) => graph.levels.has(below))], gid);
  }

  // Without an anchor, the picture is shown as at first.
  /** @param {number[]} gids @param {number} [anchor] */
  open(gids, anchor) {
    const { drawing } = this;
    drawing.graph.unfold(gids);
    drawing.refresh(anchor);
    this.tell({ ids: this.idsOf(gids), open: true });
  }

  /** @param {number[]} gids @param {number} [anchor] */
  close(gids, anchor) {
    const { drawing } = this;
    drawing.graph.fold(gids);
    drawing.refresh(anchor);
    this.tell({ ids: this.idsOf(gids), open: false });
  }

  /** @param {Iterable<number>} gids */
  idsOf(gids) {
    return [...gids].flatMap((gid) => this.drawing.graph.groups.get(gid)?.id ?? []);
  }

  // Fetch with a subtle mark on the group; an error stays there until the next attempt.
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
      this.failed(error, () => this.toggle(gid));
    }
    this.waiting.delete(gid);
    this.mark();
  }

  mark() {
    this.drawing.stage.mark("busy", new Set(this.idsOf(this.waiting)));
    this.drawing.stage.mark("failed", new Set(this.idsOf(this.refused)));
  }

  /** @param {boolean} open */
  async all(open) {
    const { drawing } = this;
    const { graph } = drawing;
    if (!open) return this.close([...graph.unfolded]);
    drawing.busy(true);
    try {
      const missing = graph.missing([...graph.groups.keys()]).length || graph.groups.size < graph.size.groups;
      if (missing) await graph.loadBelow(-1);
      if (drawing.graph === graph) this.open([...graph.groups.keys()].filter((gid) => graph.levels.has(gid)));
    } catch (error) {
      this.failed(error, () => this.all(true));
    }
    drawing.busy(false);
  }

  // Unfold the groups that hide these items.
  /** @param {readonly string[]} ids */
  async reach(ids) {
    const { drawing } = this;
    const { graph } = drawing;
    const hidden = ids.filter((id) => !drawing.placedOf(id));
    const paths = await Promise.all(hidden.map((id) => graph.pathTo(id, true).catch(() => [])));
    const folded = paths.flat().filter((gid) => !graph.unfolded.has(gid));
    if (!folded.length || drawing.graph !== graph) return;
    await graph.load(folded).catch(() => null);
    graph.unfold(folded.filter((gid) => graph.levels.has(gid)));
    drawing.refresh(undefined, true);
  }

  // Unfold these launches, whose groups are unfolded already.
  /** @param {string[]} ids */
  async unfold(ids) {
    const { drawing } = this;
    const { graph } = drawing;
    const places = ids.flatMap((id) => graph.byId.get(id) ?? []);
    const folded = places.flatMap(({ item }) => item.g === undefined || graph.unfolded.has(item.g) ? [] : item.g);
    if (!folded.length) return;
    await graph.load(folded).catch(() => null);
    graph.unfold(folded.filter((gid) => graph.levels.has(gid)));
    if (drawing.graph === graph) drawing.refresh(undefined, true);
  }

  // A synchronised view folded these groups; fold groups with the same ids here, level by level.
  /** @param {string[]} ids @param {boolean} open */
  async follow(ids, open) {
    const { drawing } = this;
    const { graph } = drawing;
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
    if (drawing.graph === graph) drawing.refresh(first);
  }

  // Where the camera was when this graph was last shown, and the levels that were unfolded then.
  /** @param {Spot | null} look the point in the middle of the view */
  async recall(look) {
    const { drawing } = this;
    const { graph, camera } = drawing;
    if (look) camera.stand(drawing.picture, camera.standing(look));
    if (!graph.missing(graph.wanted).length) return;
    await graph.load(graph.wanted).catch(() => null);
    graph.unfold(graph.wanted.filter((gid) => graph.levels.has(gid)));
    if (drawing.graph !== graph) return;
    drawing.refresh(null, Boolean(look));
    if (look && !drawing.choice && camera.by === "view") camera.stand(drawing.picture, camera.standing(look));
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.prefetch(), IDLE_MS);
  }

  prefetch() {
    const { graph, stage, camera } = this.drawing;
    if (camera.far) return;
    const seen = [...stage.drawn.keys()].flatMap(({ item, open }) => item.g === undefined || open ? [] : item.g);
    const missing = graph.missing(seen).filter((gid) => !this.refused.has(gid)).slice(0, PREFETCHED);
    if (missing.length) graph.load(missing).catch(() => null);
  }
}
