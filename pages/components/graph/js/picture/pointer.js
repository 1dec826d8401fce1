/** @import { Camera } from "./camera.js" */

// Drag, wheel and pinch; a drag shorter than a few pixels stays a click.
/** @param {HTMLElement} viewport @param {Camera} camera */
export function moveWithPointer(viewport, camera) {
  /** @type {Map<number, [number, number]>} */
  const touches = new Map();
  let [dragged, spread] = [0, 0];
  /** @param {MouseEvent} event @returns {[number, number]} */
  const at = (event) => {
    const box = viewport.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  viewport.onpointerdown = (event) => {
    if (event.button !== 0) return;
    if (!touches.size) dragged = 0;
    touches.set(event.pointerId, at(event));
    spread = 0;
  };
  viewport.onpointermove = (event) => {
    const before = touches.get(event.pointerId);
    if (!before) return;
    const now = at(event);
    touches.set(event.pointerId, now);
    const fingers = [...touches.values()];
    if (fingers.length === 2) {
      const apart = Math.hypot(fingers[0][0] - fingers[1][0], fingers[0][1] - fingers[1][1]);
      if (spread) camera.zoom(apart / spread, (fingers[0][0] + fingers[1][0]) / 2, (fingers[0][1] + fingers[1][1]) / 2);
      [spread, dragged] = [apart, 99];
      return;
    }
    dragged += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
    if (dragged < 4) return;
    viewport.setPointerCapture(event.pointerId);
    viewport.classList.add("dragging");
    camera.pan(now[0] - before[0], now[1] - before[1]);
  };
  viewport.onpointerup = viewport.onpointercancel = (event) => {
    touches.delete(event.pointerId);
    spread = 0;
    viewport.classList.remove("dragging");
  };
  viewport.onwheel = (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    camera.zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), ...at(event));
  };
  return { wasDrag: () => dragged >= 4 };
}
