// The tool bar: search, colours and folding in sight; the rarely used behind one button, and in a narrow view all
// but search.
import { button, make } from "./dom.js";
import { saveFromServer, savePng, saveSvg } from "./export.js";
import { groupLine } from "./scene.js";
import { Search } from "./search.js";
/** @import { Choice } from "./types.d.ts" */
/** @import { GraphView } from "./view.js" */

const KEYS = [
  ["click, ↑ ↓ ← →", "select; walk along the edges"],
  ["Enter, o, double-click", "unfold or fold a group, open a node"],
  ["Shift + double-click", "unfold all below a group"],
  ["/", "search; Enter and Shift+Enter step through the matches"],
  ["n", "the neighbourhood of the selected node"],
  ["p", "the path from the selected node to another"],
  [", and .", "previous and next step of the film"],
  ["+ − f", "zoom in, zoom out, fit"],
  ["m", "the small map"],
  ["Escape", "back, clear"],
  ["?", "this list"],
];

/** @param {GraphView} view @param {HTMLElement} parent */
export function toolBar(view, parent) {
  const bar = make("div", { class: "tools", role: "toolbar", "aria-label": "Graph" }, parent);
  view.search = new Search(view, bar);
  const panel = make("div", { class: "panel" }, bar);
  const extra = make("div", { class: "extra" }, panel);
  view.overlays.controls(extra);
  view.foldButtons = [
    button(extra, "fold all", "Fold all groups", () => view.folds.all(false)),
    button(extra, "unfold all", "Unfold all groups", () => view.folds.all(true)),
  ];
  const zooms = [
    button(extra, "−", "Zoom out (−)", () => view.camera.zoom(1 / 1.25)),
    button(extra, "+", "Zoom in (+)", () => view.camera.zoom(1.25)),
  ];
  button(extra, "fit", "Fit the whole graph (F)", () => view.camera.fit());
  const rare = make("div", { class: "rare" }, panel);
  view.wide = button(rare, "Edge width by bytes", "Edge width by bytes", () => view.toggleBytes(), {
    "aria-pressed": "false",
  });
  view.barsButton = button(
    rare,
    "Size by cost",
    "A bar in each box, as wide as its share",
    () => view.overlays.toggleBars(),
    { "aria-pressed": "false" },
  );
  button(rare, "Neighbourhood", "What is around the selected node (N)", () => view.focus.neighbours());
  button(rare, "Path to …", "The path from the selected node to another (P)", () => view.focus.path());
  button(rare, "Small map", "Show or hide the small map (M)", () => view.minimap.toggle());
  make("hr", {}, rare);
  button(rare, "SVG", "Download as SVG", () => saveSvg(view));
  button(rare, "PNG", "Download as PNG", () => savePng(view));
  button(rare, "DOT", "Download as DOT", () => saveFromServer(view, "graph.dot"));
  button(rare, "JSON", "Download as JSON", () => saveFromServer(view, "graph.json"));
  make("hr", {}, rare);
  button(rare, "Keys  ?", "The keys of this view (?)", () => view.help.toggle());
  const menu = button(bar, "⋯", "More", () => show(!bar.classList.contains("unrolled")), {
    class: "menu",
    "aria-expanded": "false",
  });
  const show = (on) => {
    bar.classList.toggle("unrolled", on);
    menu.setAttribute("aria-expanded", String(on));
  };
  panel.addEventListener("click", ({ target }) => {
    const pressed = /** @type {Element} */ (target).closest("button");
    if (pressed && !zooms.includes(pressed)) show(false);
  });
  bar.addEventListener("focusout", (event) => bar.contains(/** @type {Node} */ (event.relatedTarget)) || show(false));
  bar.addEventListener(
    "keydown",
    (event) =>
      event.key === "Escape" && (show(false), event.stopPropagation(), view.root.focus({ preventScroll: true })),
  );
  bar.onpointerdown = bar.ondblclick = (event) => event.stopPropagation();
  return bar;
}

export class Help {
  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.root = make("div", { class: "help", role: "dialog", "aria-label": "Keys of the graph", hidden: "" }, parent);
    for (const [keys, words] of KEYS) {
      const line = make("div", {}, this.root);
      make("b", {}, line, keys);
      make("span", {}, line, words);
    }
    button(this.root, "✕", "Close", () => this.toggle(false));
  }

  get on() {
    return !this.root.hidden;
  }

  /** @param {boolean} [on] */
  toggle(on = !this.on) {
    this.root.hidden = !on;
  }
}

// What a key does in a view, or undefined.
/** @param {GraphView} view @param {KeyboardEvent} event */
export function keyOf(view, event) {
  const { camera } = view;
  const onGroup = view.choice?.item.g !== undefined && !view.choice.row;
  return {
    ArrowDown: () => view.walk(0, 1),
    ArrowUp: () => view.walk(0, -1),
    ArrowLeft: () => view.walk(-1, 0),
    ArrowRight: () => view.walk(1, 0),
    "+": () => camera.zoom(1.25),
    "=": () => camera.zoom(1.25),
    "-": () => camera.zoom(1 / 1.25),
    0: () => camera.fit(),
    f: () => camera.fit(),
    m: () => view.minimap.toggle(),
    n: () => view.focus.neighbours(),
    p: () => view.focus.path(),
    ",": () => view.film.step(-1),
    ".": () => view.film.step(1),
    "/": () => view.search.field.focus(),
    "?": () => view.help.toggle(),
    o: () => onGroup && view.folds.toggle(view.choice.item.g),
    O: () => onGroup && view.folds.toggle(view.choice.item.g, true),
    Enter: () => (onGroup ? view.folds.toggle(view.choice.item.g) : view.activate(view.choice)),
    Escape: () => {
      if (view.help.on) view.help.toggle(false);
      else if (view.search.field.value) view.search.clear();
      else if (view.focus.on) view.focus.leave();
      else view.select(null);
    },
  }[event.key];
}

// The tip at the pointer: names, facts and what the colour says.
/** @param {HTMLElement} tip @param {Choice} choice @param {GraphView} view */
export function fillTip(tip, { item, row }, view) {
  const version = view.film.versionOf(item);
  /** @type {{ label?: string, detail?: string, tip?: string }} */
  const thing = row ?? (version ? { label: version[1], detail: version[2], tip: version[3] } : item);
  const line = (name, text) => text && make("div", { class: name }, tip, text);
  tip.replaceChildren();
  line("name", thing.label);
  line("what", item.g !== undefined ? groupLine(item) : thing.detail);
  if (row) return;
  line("what", (item.chips ?? []).join(", "));
  for (const [name, value] of item.facts ?? []) {
    const fact = make("div", { class: "pair" }, tip);
    make("span", {}, fact, name);
    make("span", {}, fact, String(value));
  }
  line("what", view.overlays.told(item));
  line("more", thing.tip);
}
