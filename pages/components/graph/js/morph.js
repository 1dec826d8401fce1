// Morph: two graphs whose items share ids; common items fly from the old to the new place, the others fade. The
// other graph of a film is its first frame, from which all later ones start.
import { button, calm, make } from "./dom.js";
import { Graph } from "./model.js";
import { MARGIN } from "./picture/camera.js";
import { compose } from "./picture/compose.js";
import { flyAll, standing } from "./picture/flight.js";
/** @import { MorphData } from "../../js/wire.d.ts" */
/** @import { Placed } from "./types.d.ts" */
/** @import { Drawing } from "./drawing.js" */

const FLIGHT_MS = 400;

export class Morph {
  /** @type {Graph[]} */
  graphs = [];
  at = 0;
  filmed = false;

  // `before` is called before the graphs are swapped.
  /** @param {Drawing} drawing @param {HTMLElement} parent @param {() => void} before */
  constructor(drawing, parent, before) {
    this.drawing = drawing;
    this.before = before;
    this.bar = make("div", { class: "segments", role: "group", "aria-label": "Which graph", hidden: "" }, parent);
    this.buttons = [0, 1].map((at) => button(this.bar, "", "", () => this.swap(at), { "aria-pressed": "false" }));
  }

  /** @param {Graph} graph @param {MorphData | null} morph */
  over(graph, morph) {
    this.filmed = Boolean(morph && graph.frames.length);
    this.bar.hidden = !morph || this.filmed;
    this.graphs = morph ? [graph, new Graph({ ...morph, frames: graph.frames })] : [graph];
    this.at = 0;
    if (!morph || this.filmed) return;
    morph.labels.forEach((label, at) => {
      this.buttons[at].textContent = this.buttons[at].title = label;
      this.buttons[at].setAttribute("aria-label", label);
    });
    this.tell();
  }

  tell() {
    this.buttons.forEach((element, at) => element.setAttribute("aria-pressed", String(at === this.at)));
  }

  // Switch to the graph of a film's frame; return true if the shown graph changes.
  /** @param {number} frame */
  film(frame) {
    const at = frame === 0 ? 1 : 0;
    if (!this.filmed || at === this.at) return false;
    this.swap(at);
    return true;
  }

  /** @param {number} at */
  swap(at) {
    const { drawing } = this;
    if (at === this.at || !this.graphs[at]) return;
    this.before();
    this.at = at;
    if (!this.filmed) this.tell();
    const flying = !calm() && !drawing.camera.far;
    const before = flying ? standing(drawing.stage, true) : new Map();
    const anchor = this.anchor();
    const { x, y, k } = drawing.camera;
    if (flying) this.leave();
    drawing.setGraph(this.graphs[at], anchor && this.cameraOn(anchor.placed));
    if (!flying) return;
    drawing.drawNow();
    const now = drawing.camera;
    flyAll(drawing.stage, before, { x: (x - now.x) / k, y: (y - now.y) / k }, FLIGHT_MS);
  }

  // The old picture stays for a moment, fading.
  leave() {
    const copy = /** @type {HTMLElement} */ (this.drawing.canvas.cloneNode(true));
    copy.setAttribute("aria-hidden", "true");
    copy.classList.add("leavings");
    for (const element of copy.querySelectorAll("[data-id]")) element.removeAttribute("data-id");
    this.drawing.viewport.append(copy);
    copy.animate([{ opacity: 1 }, { opacity: 0 }], { duration: FLIGHT_MS / 2, fill: "forwards" });
    setTimeout(() => copy.remove(), FLIGHT_MS);
  }

  // The item nearest the middle of the view that the other graph has too: it keeps its place on the screen.
  anchor() {
    const { drawing } = this;
    const other = this.graphs[this.at];
    return drawing.byDistance().find(({ placed }) => other.related(placed.item.id, placed.item.links).length);
  }

  /** @param {Placed} placed */
  cameraOn(placed) {
    const { camera } = this.drawing;
    const other = this.graphs[this.at];
    const picture = compose(other.levels, other.unfolded);
    const { clientWidth, clientHeight } = this.drawing.viewport;
    const there = other.shown(other.related(placed.item.id, placed.item.links)[0], picture);
    if (!there) return undefined;
    const [x, y] = [camera.x + (placed.x + placed.w / 2) * camera.k, camera.y + placed.y * camera.k];
    return {
      x: withoutGap(x - (there.x + there.w / 2) * camera.k, picture.width * camera.k, clientWidth),
      y: withoutGap(y - there.y * camera.k, picture.height * camera.k, clientHeight),
      k: camera.k,
    };
  }
}

// The best start of a picture of this size in a view: in the middle if it fits, else with at most a margin left
// empty.
/** @param {number} start @param {number} size @param {number} room */
function withoutGap(start, size, room) {
  if (size + 2 * MARGIN <= room) return (room - size) / 2;
  return Math.min(MARGIN, Math.max(room - size - MARGIN, start));
}
