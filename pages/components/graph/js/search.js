// Search over the whole graph: the server also searches folded groups; without it, only loaded levels are searched.
import { closest, make } from "./dom.js";
/** @import { Hit } from "./types.d.ts" */
/** @import { Graph } from "./model.js" */
/** @import { GraphView } from "./view.js" */

const ASK_MS = 150;
const MOST_HITS = 200;
const LISTED = 60;

export class Search {
  /** @type {Hit[]} */
  hits = [];
  total = 0;
  at = -1;
  asked = 0;
  searched = "";
  later = 0;

  /** @param {GraphView} view */
  constructor(view) {
    this.view = view;
    this.box = make("div", { class: "search" });
    const attributes = {
      type: "search",
      placeholder: "Search  /",
      "aria-label": "Search the graph",
      spellcheck: "false",
      role: "combobox",
      "aria-expanded": "false",
    };
    this.field = make("input", attributes, this.box);
    this.count = make("span", { class: "count", "aria-live": "polite" }, this.box);
    this.list = make("div", { class: "hits", role: "listbox", "aria-label": "Matches", hidden: "" }, this.box);
    this.field.oninput = () => {
      clearTimeout(this.later);
      this.later = setTimeout(() => this.run(), ASK_MS);
    };
    this.field.onkeydown = (event) => this.key(event);
    this.field.onfocus = () => this.open(this.hits.length > 0);
    this.box.addEventListener("focusout", (event) => {
      if (!this.box.contains(/** @type {Node} */ (event.relatedTarget))) this.open(false);
    });
    this.list.onpointerdown = (event) => event.preventDefault();
    this.list.onclick = (event) => {
      const line = closest(event, ".one");
      if (line) this.go(Number(line.getAttribute("data-at")));
    };
  }

  get wanted() {
    return this.field.value.trim().toLowerCase();
  }

  async run() {
    const { wanted, view } = this;
    const asked = (this.asked += 1);
    if (!wanted) return this.show([], 0);
    /** @type {{ hits: Hit[], total: number } | null} */
    let found = null;
    if (!view.part) found = await view.graph.source.search(wanted).catch(() => null);
    if (asked !== this.asked) return;
    found ??= searchHere(view.graph, wanted);
    this.show(found.hits, found.total);
  }

  /** @param {Hit[]} hits @param {number} total */
  show(hits, total) {
    this.hits = hits;
    this.total = total;
    this.at = -1;
    this.list.replaceChildren();
    hits.slice(0, LISTED).forEach((hit, index) => this.listed(hit, index));
    if (total > Math.min(hits.length, LISTED)) {
      make(
        "div",
        { class: "more" },
        this.list,
        `${(total - Math.min(hits.length, LISTED)).toLocaleString("en")} more; type on to narrow`,
      );
    }
    this.open(hits.length > 0 && this.field.matches(":focus"));
    this.ring();
    this.tell();
  }

  /** @param {Hit} hit @param {number} index */
  listed(hit, index) {
    const line = make("div", { class: "one", role: "option", "data-at": index, "aria-selected": "false" }, this.list);
    make("b", {}, line, hit.label);
    if (hit.detail) make("span", {}, line, hit.detail);
    const module = hit.where ?? this.view.graph.pathWords(hit.path);
    if (module) make("i", {}, line, module);
  }

  // Mark matches on screen with a ring; a folded group gets a ring for matches inside it.
  ring() {
    const { view } = this;
    const ids = new Set(this.hits.map((hit) => hit.id));
    for (const { path } of this.hits) {
      const folded = path.find((gid) => !view.picture.open.has(gid));
      const group = folded === undefined ? undefined : view.graph.groups.get(folded);
      if (group) ids.add(group.id);
    }
    const repaints = ids.size > 0 || Boolean(view.stage.marks.get("hit")?.size);
    view.stage.mark("hit", ids);
    view.stage.mark("at", new Set(this.hits[this.at] ? [this.hits[this.at].id] : []));
    view.root.classList.toggle("searching", this.wanted !== "");
    view.remark();
    if (repaints) view.repaintFar();
  }

  /** @param {number} at */
  async go(at) {
    if (!this.hits.length) return;
    this.at = (at + this.hits.length) % this.hits.length;
    const hit = this.hits[this.at];
    for (const line of this.list.querySelectorAll(".one")) {
      const here = Number(line.getAttribute("data-at")) === this.at;
      line.setAttribute("aria-selected", String(here));
      if (here) line.scrollIntoView({ block: "nearest" });
    }
    this.tell();
    await this.view.goTo(hit.id, { wait: 300, low: !this.list.hidden });
    this.ring();
  }

  tell() {
    const shown = this.total > this.hits.length ? `${this.hits.length}+` : this.hits.length;
    this.count.textContent = !this.wanted
      ? ""
      : this.hits.length
      ? `${this.at < 0 ? "" : `${this.at + 1} of `}${shown}`
      : "no match";
  }

  /** @param {boolean} on */
  open(on) {
    this.list.hidden = !on;
    this.field.setAttribute("aria-expanded", String(on));
  }

  clear() {
    this.field.value = "";
    clearTimeout(this.later);
    this.asked += 1;
    this.show([], 0);
  }

  /** @param {KeyboardEvent} event */
  async key(event) {
    event.stopPropagation();
    if (event.key === "Enter" || event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      clearTimeout(this.later);
      if (this.searched !== this.wanted) await this.run();
      this.searched = this.wanted;
      const back = event.key === "ArrowUp" || event.shiftKey;
      this.go(back ? (this.at < 0 ? -1 : this.at - 1) : this.at + 1);
    }
    if (event.key !== "Escape") return;
    this.clear();
    this.view.root.focus({ preventScroll: true });
  }
}

/** @param {Graph} graph @param {string} wanted */
function searchHere(graph, wanted) {
  const hits = [];
  for (const [id, [{ item, gid }]] of graph.byId) {
    const { label, detail } = item;
    const text = [id, label, detail, ...(item.chips ?? [])].join(" ").toLowerCase();
    const node = item.g === undefined ? item.i : item.from;
    if (text.includes(wanted)) hits.push({ id, label, detail, path: graph.path(gid), node });
  }
  hits.sort((a, b) => a.node - b.node);
  return { total: hits.length, hits: hits.slice(0, MOST_HITS) };
}
