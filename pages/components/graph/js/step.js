// In step: views with the same step follow each other's pan, zoom and folds, by what is related and not by where it
// stands.
import { EVENTS, tell } from "../../js/shared.js";
/** @import { Stepping } from "./types.d.ts" */
/** @import { GraphView } from "./view.js" */

const CANDIDATES = 12;

export class Step {
  /** @param {GraphView} view */
  constructor(view) {
    this.view = view;
    /** @type {(event: any) => void} */
    this.listener = ({ detail }) => this.hear(detail);
  }

  connect() {
    globalThis.addEventListener(EVENTS.camera, this.listener);
  }

  disconnect() {
    globalThis.removeEventListener(EVENTS.camera, this.listener);
  }

  /** @param {Stepping} detail */
  send(detail) {
    const { channel, source, step } = this.view;
    if (step) tell(EVENTS.camera, { channel, source, step, ...detail });
  }

  // The items nearest the middle, with how far from it they stand, in pixels: the other view takes the first that it
  // knows.
  moved() {
    const { camera, step } = this.view;
    if (!step || camera.by !== "user") return;
    const near = this.view.byDistance(CANDIDATES).map(({ placed, dx, dy }) => ({
      id: placed.item.id,
      links: [
        ...(placed.item.links ?? []),
        ...(placed.item.rows ?? []).flatMap((row) => [row.id, ...(row.links ?? [])]),
      ],
      dx: dx * camera.k,
      dy: dy * camera.k,
    }));
    this.send({ k: camera.k, near, gliding: camera.gliding });
  }

  /** @param {string[]} ids @param {boolean} open */
  folded(ids, open) {
    this.send({ ids, open });
  }

  /** @param {Stepping} said */
  hear({ channel, source, step, k, near, gliding, ids, open }) {
    const { view } = this;
    if (!step || step !== view.step || channel !== view.channel || source === view.source || !view.picture) return;
    if (ids) return void view.folds.followed(ids, open);
    for (const { id, links, dx, dy } of near) {
      const there = view.visibleRelated(id, links)[0];
      if (!there) continue;
      const { clientWidth, clientHeight } = view.viewport;
      view.camera.place(
        there.x + there.w / 2,
        there.y + there.h / 2,
        clientWidth / 2 + dx,
        clientHeight / 2 + dy,
        k,
        gliding,
      );
      return;
    }
  }
}
