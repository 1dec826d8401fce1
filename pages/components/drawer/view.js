// The edge of the drawer: drawn with the pointer or moved with the arrow keys; the width stays with this browser.
import { element } from "../js/shared.js";
/** @import { Arguments } from "../js/types.d.ts" */

const KEPT = "compileboard:drawer";
const LEAST_PX = 280;
const MOST_SHARE = 0.7;
const STEP_PX = 32;
/** @type {WeakMap<HTMLElement, HTMLElement>} */
const edges = new WeakMap();

/** @param {Arguments<unknown>} args */
export default function ({ parentElement }) {
  const edge = edges.get(parentElement) ?? drawn(parentElement);
  const observer = new ResizeObserver(() => tellWidth(edge));
  observer.observe(drawerOf(edge));
  return () => observer.disconnect();
}

/** @param {HTMLElement} parent */
function drawn(parent) {
  const edge = element("div", "edge");
  edge.tabIndex = 0;
  edge.setAttribute("role", "separator");
  edge.setAttribute("aria-orientation", "vertical");
  edge.setAttribute("aria-label", "Width of the drawer");
  edge.title = "Drag to resize; double-click to reset the width";
  edge.onpointerdown = (event) => edge.setPointerCapture(event.pointerId);
  edge.onpointermove = (event) => edge.hasPointerCapture(event.pointerId) && widen(right(edge) - event.clientX);
  edge.ondblclick = () => widen(null);
  edge.onkeydown = ({ key }) => {
    const by = { ArrowLeft: STEP_PX, ArrowRight: -STEP_PX }[key];
    if (by) widen(right(edge) - edge.getBoundingClientRect().left + by);
  };
  parent.append(edge);
  edges.set(parent, edge);
  widen(kept());
  return edge;
}

/** @param {HTMLElement} edge */
function right(edge) {
  return drawerOf(edge).getBoundingClientRect().right;
}

/** @param {HTMLElement} edge */
function drawerOf(edge) {
  const root = edge.getRootNode();
  const host = root instanceof ShadowRoot ? root.host : edge;
  return host.closest(".st-key-drawer") ?? document.body;
}

/** @param {HTMLElement} edge */
function tellWidth(edge) {
  edge.setAttribute("aria-valuemin", String(LEAST_PX));
  edge.setAttribute("aria-valuemax", String(Math.round(globalThis.innerWidth * MOST_SHARE)));
  edge.setAttribute("aria-valuenow", String(Math.round(drawerOf(edge).getBoundingClientRect().width)));
}

/** @param {number | null} px */
function widen(px) {
  const { style } = document.documentElement;
  if (px === null || !Number.isFinite(px)) style.removeProperty("--drawer");
  else {
    const width = Math.min(Math.max(px, LEAST_PX), globalThis.innerWidth * MOST_SHARE);
    style.setProperty("--drawer", `${Math.round(width)}px`);
  }
  try {
    localStorage.setItem(KEPT, style.getPropertyValue("--drawer"));
  } catch {
    // Full or forbidden: the drawer has its first width next time.
  }
}

function kept() {
  try {
    const width = Number.parseInt(localStorage.getItem(KEPT) ?? "", 10);
    return Number.isNaN(width) ? null : width;
  } catch {
    return null;
  }
}
