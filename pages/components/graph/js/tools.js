// The tool bar: search, colours, folding, zoom and full screen; rarely used tools are behind one button.
import { toggleFull } from "../../js/room.js";
import { button, closest, make } from "./dom.js";
import { saveFromServer, savePng, saveSvg } from "./export.js";
import { iconButton } from "./icons.js";
import { Largest } from "./largest.js";
/** @import { Picture } from "./types.d.ts" */
/** @import { Graph } from "./model.js" */
/** @import { GraphView } from "./view.js" */

const OWN_KEYS = "input, textarea, select, [contenteditable='true'], [role='combobox'], .view, .cv";

export class Tools {
  /** @param {GraphView} view @param {HTMLElement} parent */
  constructor(view, parent) {
    this.view = view;
    this.largest = new Largest(view, parent);
    this.bar = make("div", { class: "tools", role: "toolbar", "aria-label": "Graph" }, parent);
    this.bar.append(view.search.box);
    this.bar.append(view.overlays.field);
    this.foldButtons = [
      iconButton(this.bar, "fold", "Fold all groups", () => view.folds.all(false)),
      iconButton(this.bar, "unfold", "Unfold all groups", () => view.folds.all(true)),
    ];
    iconButton(this.bar, "further", "Zoom out (−)", () => view.camera.zoom(1 / 1.25));
    iconButton(this.bar, "closer", "Zoom in (+)", () => view.camera.zoom(1.25));
    iconButton(this.bar, "fit", "Fit the whole graph (f)", () => view.camera.fit());
    iconButton(this.bar, "full", "Full screen (F)", () => toggleFull());
    const rare = make("div", { class: "rare" }, this.bar);
    const pressed = { "aria-pressed": "false" };
    this.wide = button(rare, "Edge width by bytes", "Edge width by bytes", () => this.toggleBytes(), pressed);
    rare.append(view.overlays.barsButton);
    this.served = [
      button(rare, "Neighbourhood", "What is around the selected node (N)", () => view.focus.neighbours()),
      button(rare, "Path to …", "The path from the selected node to another (P)", () => view.focus.path()),
    ];
    button(rare, "Small map", "Show or hide the small map (M)", () => view.minimap.toggle());
    make("hr", {}, rare);
    button(rare, "SVG", "Download as SVG", () => saveSvg(view));
    button(rare, "PNG", "Download as PNG", () => savePng(view));
    this.served.push(
      button(rare, "DOT", "Download as DOT", () => saveFromServer(view.main, "graph.dot", view.data.source)),
      button(rare, "JSON", "Download as JSON", () => saveFromServer(view.main, "graph.json", view.data.source)),
    );
    make("hr", {}, rare);
    button(rare, "Keys  ?", "The keys of this view (?)", () => view.help.toggle());
    this.menu = button(this.bar, "⋯", "More", () => this.unroll(!this.bar.classList.contains("unrolled")), {
      class: "menu",
      "aria-expanded": "false",
    });
    rare.addEventListener("click", (event) => closest(event, "button") && this.unroll(false));
    this.listen();
  }

  listen() {
    const { bar } = this;
    bar.addEventListener("focusout", ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && bar.contains(relatedTarget))) this.unroll(false);
    });
    bar.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      this.unroll(false);
      event.stopPropagation();
      this.view.root.focus({ preventScroll: true });
    });
    bar.onpointerdown = bar.ondblclick = (event) => event.stopPropagation();
  }

  /** @param {boolean} on */
  unroll(on) {
    this.bar.classList.toggle("unrolled", on);
    this.menu.setAttribute("aria-expanded", String(on));
  }

  toggleBytes() {
    const on = this.view.root.classList.toggle("by-bytes");
    this.wide.setAttribute("aria-pressed", String(on));
  }

  // Only tools that this graph can use.
  /** @param {Graph} graph @param {Picture} picture */
  suit(graph, picture) {
    this.largest.suit();
    this.wide.hidden = !picture.edges.some(({ edge }) => edge.bytes);
    for (const element of this.foldButtons) element.hidden = !graph.size.groups;
    for (const element of this.served) element.hidden = !graph.source.hasServer;
  }
}

// Search and the keys of a film's steps work anywhere on the page, except in text fields and views; the first view, or
// film, takes them.
/** @param {GraphView} view @param {KeyboardEvent} event */
export function heardOnPage(view, event) {
  const isElsewhere = event.composedPath().some((part) => part instanceof Element && part.matches(OWN_KEYS));
  const isHeard = event.key === "/" || (view.film.on && [",", "."].includes(event.key));
  if (isHeard && !isElsewhere && !event.defaultPrevented) view.key(event);
}

// The action of a key in a view, or undefined.
/** @param {GraphView} view @param {string} key @param {boolean} [shift] */
export function keyOf(view, key, shift = false) {
  const { camera, choice } = view;
  const group = choice?.item.g;
  /** @type {Record<string, () => void>} */
  const acts = {
    ArrowDown: () => view.walk(0, 1, shift),
    ArrowUp: () => view.walk(0, -1, shift),
    ArrowLeft: () => view.walk(-1, 0, shift),
    ArrowRight: () => view.walk(1, 0, shift),
    "+": () => camera.zoom(1.25),
    "=": () => camera.zoom(1.25),
    "-": () => camera.zoom(1 / 1.25),
    0: () => camera.fit(),
    f: () => camera.fit(),
    F: () => toggleFull(),
    m: () => view.minimap.toggle(),
    n: () => view.focus.neighbours(),
    p: () => view.focus.path(),
    ",": () => view.film.step(-1),
    ".": () => view.film.step(1),
    "/": () => view.search.field.focus(),
    "?": () => view.help.toggle(),
    o: () => group !== undefined && view.folds.toggle(group),
    O: () => group !== undefined && view.folds.toggle(group, true),
    Enter: () => group === undefined ? view.activate(choice) : view.folds.toggle(group),
    Escape: () => {
      if (view.notice.on) view.notice.hide();
      else if (view.help.on) view.help.toggle(false);
      else if (view.search.field.value) view.search.clear();
      else if (view.focus.on) view.focus.leave();
      else view.select(null);
    },
  };
  return acts[key];
}
