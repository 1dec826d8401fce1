// The item under the pointer: its tip, its edges and neighbours, and the message to the other views.
import { edgesAround } from "./walk.js";
/** @import { Choice } from "./types.d.ts" */
/** @import { Drawing } from "./drawing.js" */

export class Hover {
  /** @type {Choice | null} */
  choice = null;

  /** @param {Drawing} drawing */
  constructor(drawing) {
    this.drawing = drawing;
  }

  /** @param {Choice | null} choice @param {MouseEvent} [event] */
  over(choice, event) {
    const { drawing } = this;
    if (event?.buttons) choice = null;
    if (choice && event) drawing.tip.follow(event);
    if (choice?.id === this.choice?.id) return;
    this.choice = choice;
    const { lines, outs, ins } = edgesAround(drawing.graph, drawing.picture, choice && drawing.placedOf(choice.id));
    const near = choice ? [choice.id, ...[...outs, ...ins].map(({ item }) => item.id)] : [];
    drawing.stage.light("near", lines);
    drawing.stage.mark("near", new Set(near));
    drawing.viewport.classList.toggle("pointing", choice !== null);
    if (choice) drawing.tip.show(choice);
    else drawing.tip.hide();
    if (choice && event) drawing.tip.follow(event);
    drawing.tell("hover", choice);
    drawing.remark();
  }
}
