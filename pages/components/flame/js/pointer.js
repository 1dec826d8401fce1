// Pointer actions of a flame chart: the wheel zooms about it, a drag pans or selects an area, a click chooses, and
// a tip follows it.
import { areaOf } from "./area.js";
import { summary } from "./detail.js";
import { AXIS, ROW_HEIGHT } from "./paint.js";
/** @import { Place } from "./area.js" */
/** @import { FlameView } from "./view.js" */

const DRAG_FROM = 4;

export class Pointer {
  /** @type {{ x: number, y: number, far: number, corner: Place | null } | null} */
  press = null;
  // The pointer's last position, from 0 at the left of the view to 1 at its right.
  part = 0.5;

  /** @param {FlameView} view */
  constructor(view) {
    this.view = view;
    const { stage } = view;
    stage.onwheel = (event) => this.onWheel(event);
    stage.onpointerdown = (event) => this.onDown(event);
    stage.onpointermove = (event) => this.onMove(event);
    stage.onpointerup = (event) => this.onUp(event);
    stage.onpointercancel = () => (this.press = null);
    stage.onpointerleave = () => (view.tip.hidden = true);
  }

  /** @param {MouseEvent} event */
  at(event) {
    const { stage, lens, rows } = this.view;
    const box = stage.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const row = Math.floor((y - AXIS + lens.top) / ROW_HEIGHT);
    const time = lens.from + (x / box.width) * lens.length;
    const span = y < AXIS ? null : rows.at(row, time, (2 * lens.length) / box.width);
    return { x, y, part: x / box.width, span, time, row };
  }

  /** @param {WheelEvent} event */
  onWheel(event) {
    event.preventDefault();
    const { view } = this;
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      view.pan(((event.deltaX || event.deltaY) * unit) / view.stage.clientWidth);
    } else view.zoom(Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0018)), this.at(event).part);
  }

  /** @param {PointerEvent} event */
  onDown(event) {
    if (event.button !== 0) return;
    const { data, selecting } = this.view;
    const { time, row } = this.at(event);
    const corner = data.areas && (selecting || event.shiftKey) ? { time, row } : null;
    this.press = { x: event.clientX, y: event.clientY, far: 0, corner };
  }

  /** @param {PointerEvent} event */
  onMove(event) {
    this.part = this.at(event).part;
    if (!this.press) return this.hover(event);
    const [dx, dy] = [event.clientX - this.press.x, event.clientY - this.press.y];
    const far = this.press.far + Math.abs(dx) + Math.abs(dy);
    this.press = { ...this.press, x: event.clientX, y: event.clientY, far };
    if (far < DRAG_FROM) return;
    const { stage, tip } = this.view;
    stage.setPointerCapture(event.pointerId);
    tip.hidden = true;
    if (this.press.corner) return this.view.mark(this.areaTo(event, this.press.corner));
    stage.classList.add("dragging");
    this.view.pan(-dx / stage.clientWidth, -dy);
  }

  /** @param {PointerEvent} event */
  onUp(event) {
    const moved = (this.press?.far ?? 0) >= DRAG_FROM;
    const corner = this.press?.corner;
    this.press = null;
    if (moved && corner) this.view.chooseArea(this.areaTo(event, corner));
    this.view.stage.classList.remove("dragging");
    if (!moved && event.button === 0) this.view.choose(this.at(event).span);
  }

  /** @param {PointerEvent} event @param {Place} corner */
  areaTo(event, corner) {
    const { lens, rows } = this.view;
    return areaOf(corner, this.at(event), lens.whole, rows.rows.length);
  }

  /** @param {PointerEvent} event */
  hover(event) {
    const { x, y, span } = this.at(event);
    const { stage, tip, data } = this.view;
    tip.hidden = !span;
    stage.classList.toggle("over", Boolean(span));
    if (!span) return;
    tip.textContent = summary(data, span);
    const wide = stage.clientWidth - tip.offsetWidth - 4;
    const below = y + 18 + tip.offsetHeight < stage.clientHeight;
    tip.style.transform = `translate(${Math.max(0, Math.min(x + 12, wide))}px, ${
      below ? y + 16 : y - 8 - tip.offsetHeight
    }px)`;
  }
}
