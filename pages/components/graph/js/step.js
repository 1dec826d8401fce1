// In step: views with the same step follow each other's pan, zoom and folds, by what is related and not by where it
// stands.
import { listen, tell } from "../../js/shared.js";
/** @import { Bus, Moved, Stepping } from "../../js/types.d.ts" */
/** @import { GraphView } from "./view.js" */

const CANDIDATES = 12;

export class Step {
  /** @param {GraphView} view */
  constructor(view) {
    this.view = view;
  }

  /** @param {AbortSignal} signal */
  connect(signal) {
    listen("camera", (said) => this.hear(said), signal);
  }

  /** @param {Stepping} said */
  send(said) {
    const { channel, source, step } = this.view.data;
    if (step) tell("camera", { channel, source, step, ...said });
  }

  // The items nearest the middle, with how far from it they stand, in pixels: the other view takes the first that it
  // knows.
  moved() {
    const { camera, data } = this.view;
    if (!data.step || camera.by !== "user") return;
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

  /** @param {Bus["camera"]} said */
  hear(said) {
    const { data, folds } = this.view;
    if (!said.step || said.step !== data.step || said.channel !== data.channel || said.source === data.source) return;
    if ("ids" in said) folds.followed(said.ids, said.open);
    else this.follow(said);
  }

  /** @param {Moved} said */
  follow({ k, near, gliding }) {
    const { view } = this;
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
