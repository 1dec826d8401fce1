// Morph: two graphs whose items share ids; what is in both flies from its old place to its new one, the rest fades.
import { MARGIN } from "./camera.js";
import { compose } from "./compose.js";
import { button, calm, make } from "./dom.js";
import { Graph } from "./model.js";
/** @import { MorphData } from "../../js/wire.d.ts" */
/** @import { Placed, Standing } from "./types.d.ts" */
/** @import { Stage } from "./cull.js" */
/** @import { GraphView } from "./view.js" */

const FLIGHT_MS = 400;
export const FOLD_MS = 200;

// Where every drawn item and row stands, by id, and by what it is linked to if asked for, in coordinates of the
// picture.
/** @param {Stage} stage @param {boolean} [linked] */
export function standing(stage, linked = false) {
  const places = new Map();
  for (const [placed, element] of stage.drawn) {
    places.set(placed.item.id, { x: placed.x, y: placed.y });
    const m = stage.context.metrics;
    (placed.item.rows ?? []).forEach((row, at) =>
      places.set(row.id, { x: placed.x + m.rowInset, y: placed.y + element.rowsFrom + at * m.row })
    );
  }
  if (!linked) return places;
  for (const { item, x, y } of stage.drawn.keys()) {
    for (const link of item.links ?? []) if (!places.has(link)) places.set(link, { x, y });
  }
  return places;
}

/** @param {SVGGElement} element @param {number} dx @param {number} dy @param {number} ms */
function flyFrom(element, dx, dy, ms) {
  if (!dx && !dy) return;
  const here = element.transform.baseVal.consolidate()?.matrix ?? { e: 0, f: 0 };
  const at = (x, y) => ({ transform: `translate(${here.e + x}px, ${here.f + y}px)` });
  element.animate([at(dx, dy), at(0, 0)], { duration: ms, easing: "ease-in-out" });
}

/** @param {Element} element @param {number} ms */
function fadeIn(element, ms) {
  element.animate([{ opacity: 0 }, { opacity: 0, offset: 0.3 }, { opacity: 1 }], { duration: ms });
}

// Move what is drawn now from where it stood before; `shift` is by how much the camera jumped, in coordinates of the
// picture.
/** @param {Stage} stage @param {Standing} before @param {{ x: number, y: number }} shift @param {number} ms */
export function flyAll(stage, before, shift, ms) {
  for (const [placed, element] of stage.drawn) {
    const old = [placed.item.id, ...(placed.item.links ?? [])].map((id) => before.get(id)).find(Boolean);
    const [dx, dy] = old ? [old.x + shift.x - placed.x, old.y + shift.y - placed.y] : [0, 0];
    if (old) flyFrom(element, dx, dy, ms);
    const m = stage.context.metrics;
    const rows = (placed.item.rows ?? []).map((row, at) => ({
      from: before.get(row.id),
      element: element.rows[at],
      y: element.rowsFrom + at * m.row,
    }));
    for (const row of rows) {
      if (row.from) {
        flyFrom(
          row.element,
          row.from.x + shift.x - placed.x - m.rowInset - dx,
          row.from.y + shift.y - placed.y - row.y - dy,
          ms,
        );
      }
    }
    if (old) continue;
    if (!rows.some((row) => row.from)) fadeIn(element, ms);
    else for (const part of element.children) if (!part.classList.contains("row")) fadeIn(part, ms);
  }
  fadeIn(stage.edges, ms);
}

export class Morph {
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
    const leaving = flying ? this.leavings() : null;
    const anchor = this.anchor();
    const { x, y, k } = view.camera;
    view.setGraph(this.graphs[at], anchor ? this.cameraOn(anchor) : null);
    if (!flying) return;
    view.drawNow();
    const now = view.camera;
    flyAll(view.stage, before, { x: (x - now.x) / k, y: (y - now.y) / k }, FLIGHT_MS);
    setTimeout(() => leaving.remove(), FLIGHT_MS);
  }

  // The old picture stays for a moment, fading.
  leavings() {
    const copy = /** @type {HTMLElement} */ (this.view.canvas.cloneNode(true));
    copy.setAttribute("aria-hidden", "true");
    copy.classList.add("leavings");
    for (const element of copy.querySelectorAll("[data-id]")) element.removeAttribute("data-id");
    this.view.viewport.append(copy);
    copy.animate([{ opacity: 1 }, { opacity: 0 }], { duration: FLIGHT_MS / 2, fill: "forwards" });
    return copy;
  }

  // The item nearest the middle of the view that the other graph has too: it keeps its place on the screen.
  anchor() {
    const { view } = this;
    const other = this.graphs[this.at];
    return view.byDistance().find(({ placed }) => other.related(placed.item.id, placed.item.links).length);
  }

  /** @param {{ placed: Placed }} given */
  cameraOn({ placed }) {
    const { camera } = this.view;
    const other = this.graphs[this.at];
    const picture = compose(other.levels, other.unfolded);
    const { clientWidth, clientHeight } = this.view.viewport;
    const there = other.shown(other.related(placed.item.id, placed.item.links)[0], picture);
    if (!there) return null;
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
