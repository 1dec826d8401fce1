// The script of an HTML file of a run: draws its graphs once they are in sight, and opens a kernel that is selected in
// a graph. The address names the selection, as `file.html#n:addmm`, and an address that is opened selects its item.
// `make bundles` bundles it into core/views/html, which inserts it with the data of the graphs.
import draw from "../graph/js/view.js";
import { EMBEDDED } from "../graph/js/embedded.js";
import { listen } from "../js/shared.js";
/** @import { Arguments, Saying } from "../js/types.d.ts" */
/** @import { GraphView } from "../graph/js/view.js" */
/** @import { GraphData, LevelData, PlaceData } from "../js/wire.d.ts" */
/**
 * @typedef {{
 *   drawings: Record<string, GraphData & PlaceData>,
 *   levels: Record<string, Record<string, LevelData>>,
 * }} Graphs
 */

const ADDRESSED = /^(file|https?):$/;

/** @param {string} id */
function textOf(id) {
  return document.getElementById(id)?.textContent ?? "";
}

/** @type {Graphs} */
const graphs = JSON.parse(textOf("graph-data") || '{"drawings": {}, "levels": {}}');
for (const [digest, levels] of Object.entries(graphs.levels)) EMBEDDED.set(digest, levels);
const style = new CSSStyleSheet();
style.replaceSync(textOf("graph-style"));
/** @type {Map<Element, Arguments<GraphData & PlaceData>>} */
const drawn = new Map();

/** @param {string} link @returns {HTMLDetailsElement | null} */
function kernelOf(link) {
  return document.querySelector(`details[data-kernel="${CSS.escape(link)}"]`);
}

// Open the kernel of a selection, and mark it; scroll to it if it was double-clicked.
/** @param {string[]} links @param {boolean} [scroll] */
function openKernel(links, scroll = false) {
  const kernel = links.map(kernelOf).find((found) => found !== null);
  if (!kernel) return;
  for (const other of document.querySelectorAll("details.chosen")) other.classList.remove("chosen");
  kernel.classList.add("chosen");
  kernel.open = true;
  if (scroll) kernel.scrollIntoView({ block: "center" });
}

/** @param {Saying} said */
function selected({ id, links = [] }) {
  openKernel(id === null ? links : [id, ...links]);
  // A frame in another page has no address of its own.
  if (ADDRESSED.test(location.protocol)) history.replaceState(null, "", `#${encodeURIComponent(id ?? "")}`);
}

// The first graph that has an item.
/** @param {string} id */
function hostOf(id) {
  return [...document.querySelectorAll(".graph")].find(({ id: place }) => {
    const { root, opened, digest } = graphs.drawings[place];
    const levels = [root, ...Object.values(opened), ...Object.values(graphs.levels[digest] ?? {})];
    return levels.some(({ items }) => items.some((item) => item.id === id));
  });
}

// Select the item that the address names: a box of a graph, otherwise a kernel.
function followAddress() {
  const id = decodeURIComponent(location.hash.slice(1));
  const host = id && hostOf(id);
  if (!host) return openKernel([id], true);
  for (let fold = host.closest("details"); fold; fold = fold.parentElement?.closest("details") ?? null) {
    fold.open = true;
  }
  host.scrollIntoView({ block: "center" });
  start(host);
  /** @type {(HTMLElement & { compileboardView: GraphView }) | null | undefined} */
  const view = host.shadowRoot?.querySelector(".view");
  view?.compileboardView.goTo(id, { toMiddle: true, atOnce: true });
}

/** @param {Element} host */
function start(host) {
  const data = graphs.drawings[host.id];
  if (!data || drawn.has(host)) return;
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [style];
  const parentElement = document.createElement("div");
  root.append(parentElement);
  /** @param {string} name @param {unknown} value */
  const trigger = (name, value) => name === "activated" && openKernel([String(value)], true);
  const args = { data, parentElement, setStateValue: () => {}, setTriggerValue: trigger };
  drawn.set(host, args);
  draw(args);
}

const sight = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) start(target);
}, { rootMargin: "200px" });
for (const host of document.querySelectorAll(".graph")) sight.observe(host);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const args of drawn.values()) draw(args);
});
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details.printed")) folded.setAttribute("open", "");
});
listen("select", selected, new AbortController().signal);
addEventListener("hashchange", followAddress);
followAddress();
