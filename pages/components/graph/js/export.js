// Downloads: the composed picture, complete, as an SVG that needs no style sheet or as a PNG of it; the graph itself
// comes from the server.
import { drawingOn, make, SVG } from "./dom.js";
import { Stage } from "./picture/stage.js";
/** @import { Drawing } from "./drawing.js" */
/** @import { Graph } from "./model.js" */

const STYLES = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "font-family",
  "font-size",
  "font-weight",
  "opacity",
  "paint-order",
];
const STRIPPED = [
  "class",
  "style",
  "id",
  "data-id",
  "data-group",
  "data-act",
  "role",
  "aria-label",
  "aria-selected",
  "aria-expanded",
];
const MOST_PIXELS = 60_000_000;
const EDGE = 16;

// Equal elements have the same style, so it is computed once per kind and not ten thousand times.
/** @param {Element} element @param {Map<string, string[][]>} known */
function styleOf(element, known) {
  const kind = (/** @type {Element | null} */ at) =>
    `${at?.tagName}.${at?.getAttribute("class")}.${at?.getAttribute("style")}`;
  const parent = element.parentElement;
  const key = [element, parent, parent?.parentElement ?? null].map(kind).join("|");
  const found = known.get(key);
  if (found) return found;
  const style = getComputedStyle(element);
  const styles = STYLES.map((name) => [name, style.getPropertyValue(name)]);
  known.set(key, styles);
  return styles;
}

/** @param {Drawing} drawing */
function standalone(drawing) {
  const holder = make("div", { class: "stage printing", "aria-hidden": "true" }, drawing.viewport);
  const stage = new Stage(holder, drawing.stage.metrics);
  stage.visible = drawing.stage.visible;
  stage.dress = drawing.stage.dress;
  stage.show(drawing.picture, false);
  stage.cull([-1e8, -1e8, 1e8, 1e8]);
  /** @type {Map<string, string[][]>} */
  const known = new Map();
  /** @type {[Element, string[][]][]} */
  const styles = [...stage.svg.querySelectorAll("*")].map((element) => [element, styleOf(element, known)]);
  for (const [element, style] of styles) {
    for (const [name, value] of style) element.setAttribute(name, value.replace(/url\("?[^)]*#hatch"?\)/, "none"));
    for (const name of STRIPPED) element.removeAttribute(name);
  }
  stage.svg.querySelector("defs")?.remove();
  const [width, height] = [Math.ceil(drawing.picture.width) + 2 * EDGE, Math.ceil(drawing.picture.height) + 2 * EDGE];
  const sizes = { xmlns: SVG, viewBox: `${-EDGE} ${-EDGE} ${width} ${height}`, width, height };
  for (const [name, value] of Object.entries(sizes)) stage.svg.setAttribute(name, String(value));
  stage.svg.prepend(
    make("rect", { x: -EDGE, y: -EDGE, width, height, fill: getComputedStyle(drawing.root).backgroundColor }),
  );
  const text = new XMLSerializer().serializeToString(stage.svg);
  holder.remove();
  return { text, width, height };
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** @param {Drawing} drawing */
export function saveSvg(drawing) {
  save(new Blob([standalone(drawing).text], { type: "image/svg+xml" }), `${drawing.data.source}.svg`);
}

/** @param {Drawing} drawing */
export function savePng(drawing) {
  const { text, width, height } = standalone(drawing);
  const scale = Math.min(2, Math.sqrt(MOST_PIXELS / (width * height)), 16_000 / Math.max(width, height));
  const image = new Image();
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  image.onload = () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [Math.ceil(width * scale), Math.ceil(height * scale)];
    drawingOn(canvas).drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    canvas.toBlob((blob) => blob && save(blob, `${drawing.data.source}.png`), "image/png");
  };
  image.src = address;
}

/** @param {Graph} graph @param {string} route @param {string} name */
export function saveFromServer(graph, route, name) {
  const link = document.createElement("a");
  link.href = String(graph.source.url(route));
  link.download = `${name}.${route.split(".").at(-1)}`;
  link.click();
}
