// Synchronised views: views with the same step follow each other's pan, zoom and folds, by related items and not by
// position.
import { listen, tell } from "../../js/shared.js";
/** @import { Bus, Moved, Stepping } from "../../js/types.d.ts" */
/** @import { Drawing } from "./drawing.js" */

const CANDIDATES = 40;

export class Step {
  // `fold` repeats another view's unfolding or folding.
  /** @param {Drawing} drawing @param {(ids: string[], open: boolean) => void} fold */
  constructor(drawing, fold) {
    this.drawing = drawing;
    this.fold = fold;
  }

  /** @param {AbortSignal} signal */
  connect(signal) {
    listen("camera", (said) => this.hear(said), signal);
  }

  /** @param {Stepping} said */
  send(said) {
    const { channel, source, step } = this.drawing.data;
    if (step) tell("camera", { channel, source, step, ...said });
  }

  // The items nearest the middle, with their distance in pixels: the other view uses the first that it knows.
  moved() {
    const { camera, data } = this.drawing;
    if (!data.step || camera.by !== "user") return;
    const near = this.nearest().map(({ placed, dx, dy }) => ({
      id: placed.item.id,
      links: placed.item.links ?? [],
      dx: dx * camera.k,
      dy: dy * camera.k,
    }));
    this.send({ k: camera.k, near, gliding: camera.gliding });
  }

  // Items in sight with their distance to the middle of the view, nearest first.
  nearest() {
    const { camera, stage } = this.drawing;
    const [cx, cy] = camera.centre();
    const seen = [...stage.grid.find(camera.rect())].filter((placed) => !placed.open && stage.visible(placed.item));
    const far = seen.map((placed) => ({ placed, dx: placed.x + placed.w / 2 - cx, dy: placed.y + placed.h / 2 - cy }));
    return far.sort((a, b) => Math.hypot(a.dx, a.dy) - Math.hypot(b.dx, b.dy)).slice(0, CANDIDATES);
  }

  /** @param {Bus["camera"]} said */
  hear(said) {
    const { data } = this.drawing;
    if (!said.step || said.step !== data.step || said.channel !== data.channel || said.source === data.source) return;
    if ("ids" in said) this.fold(said.ids, said.open);
    else this.follow(said);
  }

  /** @param {Moved} said */
  follow({ k, near, gliding }) {
    const { drawing } = this;
    for (const { id, links, dx, dy } of near) {
      const there = (id === null ? null : drawing.placedOf(id)) ?? drawing.visibleRelated(id, links)[0];
      if (!there) continue;
      const { width, height } = drawing.camera.size;
      drawing.camera.place(
        there.x + there.w / 2,
        there.y + there.h / 2,
        width / 2 + dx,
        height / 2 + dy,
        k,
        gliding,
      );
      return;
    }
  }
}
