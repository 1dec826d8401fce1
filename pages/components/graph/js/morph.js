// Morph: two graphs whose items share ids; what is in both flies from its old place to its new one, the rest fades.
import { button, calm, make } from "./dom.js";
import { Graph } from "./model.js";
import { MARGIN } from "./picture/camera.js";
import { compose } from "./picture/compose.js";
import { flyAll, standing } from "./picture/flight.js";
/** @import { MorphData } from "../../js/wire.d.ts" */
/** @import { Placed } from "./types.d.ts" */
/** @import { GraphView } from "./view.js" */

const FLIGHT_MS = 400;

export class Morph {
  /** @type {Graph[]} */
  graphs = [];
  at = 0;

  /** @param {GraphView} view @param {HTMLElement} parent */
  constructor(view, parent) {
    this.view = view;
    this.bar = make("div", { class: "segments", role: "group", "aria-label": "Which graph", hidden: "" }, parent);
    this.buttons = [0, 1].map((at) => button(this.bar, "", "", () => this.swap(at), { "aria-pressed": "false" }));
  }

  /** @param {Graph} graph @param {MorphData | null} morph */
  over(graph, morph) {
    this.bar.hidden = !morph;
    this.graphs = morph ? [graph, new Graph(morph)] : [graph];
    this.at = 0;
    if (!morph) return;
    morph.labels.forEach((label, at) => {
      this.buttons[at].textContent = this.buttons[at].title = label;
      this.buttons[at].setAttribute("aria-label", label);
    });
    this.tell();
  }

  tell() {
    this.buttons.forEach((element, at) => element.setAttribute("aria-pressed", String(at === this.at)));
  }

  /** @param {number} at */
  swap(at) {
    const { view } = this;
    if (at === this.at || !this.graphs[at]) return;
    if (view.focus.on) view.focus.leave();
    this.at = at;
    this.tell();
    const flying = !calm() && !view.camera.far;
    const before = flying ? standing(view.stage, true) : new Map();
    const anchor = this.anchor();
    const { x, y, k } = view.camera;
    if (flying) this.leave();
    view.setGraph(this.graphs[at], anchor && this.cameraOn(anchor.placed));
    if (!flying) return;
    view.drawNow();
    const now = view.camera;
    flyAll(view.stage, before, { x: (x - now.x) / k, y: (y - now.y) / k }, FLIGHT_MS);
  }

  // The old picture stays for a moment, fading.
  leave() {
    const copy = /** @type {HTMLElement} */ (this.view.canvas.cloneNode(true));
    copy.setAttribute("aria-hidden", "true");
    copy.classList.add("leavings");
    for (const element of copy.querySelectorAll("[data-id]")) element.removeAttribute("data-id");
    this.view.viewport.append(copy);
    copy.animate([{ opacity: 1 }, { opacity: 0 }], { duration: FLIGHT_MS / 2, fill: "forwards" });
    setTimeout(() => copy.remove(), FLIGHT_MS);
  }

  // The item nearest the middle of the view that the other graph has too: it keeps its place on the screen.
  anchor() {
    const { view } = this;
    const other = this.graphs[this.at];
    return view.byDistance().find(({ placed }) => other.related(placed.item.id, placed.item.links).length);
  }

  /** @param {Placed} placed */
  cameraOn(placed) {
    const { camera } = this.view;
    const other = this.graphs[this.at];
    const picture = compose(other.levels, other.unfolded);
    const { clientWidth, clientHeight } = this.view.viewport;
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

// Where a picture of this size starts at best in a view: in the middle if it has room, else with no more than a
// margin left empty.
/** @param {number} start @param {number} size @param {number} room */
function withoutGap(start, size, room) {
  if (size + 2 * MARGIN <= room) return (room - size) / 2;
  return Math.min(MARGIN, Math.max(room - size - MARGIN, start));
}
