// The item or edge under the pointer: its tip, its edges and neighbours, and the message to the other views.
import { nearest } from "./dom.js";
import { headerOf, isHull } from "./picture/compose.js";
import { distanceTo, edgeOf } from "./picture/curves.js";
import { edgesAround } from "./walk.js";
/** @import { Choice, Line, Placed } from "./types.d.ts" */
/** @import { Drawing } from "./drawing.js" */

// Pixels between an edge and the pointer.
const REACH = 5;

export class Hover {
  /** @type {Choice | null} */
  choice = null;
  /** @type {Line | null} */
  line = null;

  /** @param {Drawing} drawing */
  constructor(drawing) {
    this.drawing = drawing;
  }

  /** @param {Choice | null} choice @param {MouseEvent} [event] */
  over(choice, event) {
    const { drawing } = this;
    if (event?.buttons) choice = null;
    const placed = choice && drawing.placedOf(choice.id);
    const line = event && !event.buttons && (!placed || placed.open) ? lineAt(drawing, placed, event) : null;
    if (line && event) return this.overLine(line, choice, event);
    if (choice && event) drawing.tip.follow(event, this.besides(placed));
    if (!this.line && choice?.id === this.choice?.id) return;
    this.line = null;
    this.choice = choice;
    const { lines, outs, ins } = edgesAround(drawing.graph, drawing.picture, placed);
    const near = choice ? [choice.id, ...[...outs, ...ins].map(({ item }) => item.id)] : [];
    drawing.stage.light("near", lines);
    drawing.stage.mark("near", new Set(near));
    drawing.viewport.classList.toggle("pointing", choice !== null);
    if (choice) drawing.tip.show(choice);
    else drawing.tip.hide();
    if (choice && event) drawing.tip.follow(event, this.besides(placed));
    drawing.tell("hover", choice);
    drawing.remark();
  }

  // An edge under the pointer, over an open group or none: what its value is, and whether it is in memory.
  /** @param {Line} line @param {Choice | null} choice @param {MouseEvent} event */
  overLine(line, choice, event) {
    const { drawing } = this;
    if (line !== this.line) {
      this.line = line;
      this.choice = choice;
      drawing.stage.light("near", [line, ...line.stubs]);
      drawing.stage.mark("near", new Set([line.s.item.id, line.t.item.id]));
      drawing.tip.showLine(line, drawing.graph.groups.get(line.gid));
    }
    drawing.tip.follow(event);
  }

  // The box that a tip must not cover: the hull around an op, or the box itself.
  /** @param {Placed | null} placed */
  besides(placed) {
    const { film, picture } = this.drawing;
    const hull = placed && picture.open.get(placed.gid);
    return hull && isHull(hull.item) && !film.fusing ? hull : placed;
  }
}

// The nearest edge at the pointer, none over the name of an open group.
/** @param {Drawing} drawing @param {Placed | null} group @param {MouseEvent} event @returns {Line | null} */
function lineAt({ camera, signs, stage, viewport }, group, event) {
  const box = viewport.getBoundingClientRect();
  const [x, y] = [(event.clientX - box.left - camera.x) / camera.k, (event.clientY - box.top - camera.y) / camera.k];
  if (group && (!isHull(group.item) || signs.groupAt(x, y) || y <= group.y + headerOf(group.item))) return null;
  const reach = REACH / camera.k;
  const near = [...stage.lineGrid.find([x - reach, y - reach, x + reach, y + reach])]
    .filter((line) => stage.visible(edgeOf(line)));
  const best = nearest(near, ({ points }) => distanceTo(points, x, y));
  return best && distanceTo(best.points, x, y) <= reach ? best.of ?? best : null;
}
