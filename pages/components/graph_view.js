// The view: selection, hover, keys, and the bus on which views of one channel tell each other of both.
const SELECT = "compileboard:select";
const HOVER = "compileboard:hover";
const ASK = "compileboard:ask";
const COMMAND = "compileboard:command";
const HELP = "Arrow keys walk along the edges, Enter opens, slash searches, plus, minus and F zoom, Escape clears.";
const views = new WeakMap();

class GraphView {
  constructor(parent) {
    this.root = make("div", { class: "view", tabindex: 0, role: "listbox" }, parent);
    this.viewport = make("div", { class: "viewport" }, this.root);
    this.stage = make("div", { class: "stage" }, this.viewport);
    this.svg = make("svg", {}, this.stage);
    this.tip = make("div", { class: "tip", hidden: "" }, this.root);
    this.status = make("div", { class: "status" }, this.root);
    this.legend = make("div", { class: "legend" }, this.root);
    this.spoken = make("div", { class: "spoken", "aria-live": "polite" }, this.root);
    this.camera = new Camera(this.viewport, this.stage);
    this.pointer = moveWithPointer(this.viewport, this.camera);
    this.tools();
    this.serial = 0;
    this.selected = this.hovered = null;
    this.viewport.onclick = (event) => this.click(event);
    this.viewport.ondblclick = (event) => this.activate(this.itemAt(event));
    this.viewport.onmousemove = (event) => this.hover(this.itemAt(event), event);
    this.viewport.onmouseleave = () => this.hover(null);
    this.root.onkeydown = (event) => this.key(event);
    this.resized = new ResizeObserver(() => this.camera.moved || !this.scene || this.camera.show(this.scene.picture));
    this.onSelect = ({ detail }) => this.fromElsewhere(detail, "related");
    this.onHover = ({ detail }) => this.fromElsewhere(detail, "preview");
    this.onAsk = ({ detail }) => detail.channel === this.channel && detail.source !== this.source && this.selected && this.tell(SELECT, this.selected);
    this.onCommand = ({ detail }) => this.obey(detail);
  }

  tools() {
    const bar = make("div", { class: "tools" }, this.root);
    const box = make("div", { class: "search" }, bar);
    const field = make("input", { type: "search", placeholder: "Search  /", "aria-label": "Search the graph", spellcheck: "false" }, box);
    this.search = new Search(field, make("span", { class: "count", "aria-live": "polite" }, box), (item) => this.camera.reveal(item));
    const button = (text, title, act) => {
      const element = make("button", { type: "button", title, "aria-label": title }, bar, text);
      element.onclick = act;
      return element;
    };
    this.wide = button("≋", "Edge width by bytes", () => this.toggleBytes());
    this.wide.setAttribute("aria-pressed", "false");
    button("−", "Zoom out (−)", () => this.camera.zoom(1 / 1.25));
    button("+", "Zoom in (+)", () => this.camera.zoom(1.25));
    button("fit", "Fit the whole graph (F)", () => this.camera.fit());
    button("svg", "Download as SVG", () => saveSvg(this.root, this.svg, this.scene.picture, this.source));
    button("png", "Download as PNG", () => savePng(this.root, this.svg, this.scene.picture, this.source));
  }

  update({ data, setStateValue, setTriggerValue }) {
    Object.assign(this, { setStateValue, setTriggerValue, channel: data.channel, source: data.source });
    this.root.style.height = `${data.height}px`;
    this.root.dataset.theme = isDark(this.root) ? "dark" : "light";
    if (this.scene?.picture.version === data.picture.version) return;
    const kept = this.selected?.id;
    this.scene = new Scene(data.picture, this.svg);
    this.selected = this.hovered = null;
    this.lit = this.near = [];
    this.tip.hidden = true;
    this.describe(data.picture);
    this.explain(data.picture, data.classes);
    this.search.over(this.root, this.scene.items);
    this.camera.show(data.picture);
    const again = kept === undefined ? null : this.scene.byId.get(kept)?.[0];
    if (again) this.select(again, { quiet: true, atOnce: true });
  }

  describe({ nodes, edges, note }) {
    const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
    const size = `${count(nodes.length, "node")}, ${count(edges.length, "edge")}`;
    this.status.textContent = [size, note].filter(Boolean).join(" · ");
    this.root.setAttribute("aria-label", `Graph of ${size}. ${HELP}`);
    this.wide.hidden = !edges.some((edge) => edge.bytes > 0);
    this.root.classList.toggle("empty", nodes.length === 0);
  }

  // Which colour is which class of ops: those that the picture shows.
  explain({ nodes }, classes) {
    const used = new Set(nodes.flatMap((node) => [node.cls, ...(node.rows ?? []).map((row) => row.cls)]));
    this.legend.replaceChildren();
    for (const [name, label] of Object.entries(classes)) {
      if (used.has(name)) make("span", { class: opClass(name) }, this.legend, label);
    }
  }

  connect() {
    window.addEventListener(SELECT, this.onSelect);
    window.addEventListener(HOVER, this.onHover);
    window.addEventListener(ASK, this.onAsk);
    window.addEventListener(COMMAND, this.onCommand);
    this.resized.observe(this.viewport);
    const waiting = window[Symbol.for("compileboard.commands")]?.get(this.source);
    if (waiting) this.obey(waiting);
    if (!this.selected) window.dispatchEvent(new CustomEvent(ASK, { detail: { channel: this.channel, source: this.source } }));
  }

  disconnect() {
    window.removeEventListener(SELECT, this.onSelect);
    window.removeEventListener(HOVER, this.onHover);
    window.removeEventListener(ASK, this.onAsk);
    window.removeEventListener(COMMAND, this.onCommand);
    this.resized.disconnect();
    clearTimeout(this.later);
  }

  // Python's wish; one that was written before the user's last click here is out of date.
  obey({ source, id, serial }) {
    if (source !== this.source || (this.serial && serial !== this.serial)) return;
    this.serial = serial;
    if (id === (this.selected?.id ?? null)) return;
    const item = id === null ? null : this.scene.byId.get(id)?.[0];
    if (item === undefined) return;
    const first = !this.camera.moved;
    this.select(item, { quiet: true, reveal: false });
    if (item) this.camera.reveal(item, true, first);
  }

  select(item, { quiet = false, reveal = true, atOnce = false, wait = 0 } = {}) {
    for (const { element } of this.lit) element.classList.remove("lit");
    this.selected?.element.classList.remove("selected");
    this.selected?.element.setAttribute("aria-selected", "false");
    this.mark("related", []);
    this.selected = item;
    this.lit = item ? this.scene.around(item).edges : [];
    for (const { element } of this.lit) element.parentNode.append(element), element.classList.add("lit");
    this.scene.labelEdges(this.lit);
    item?.element.classList.add("selected");
    item?.element.setAttribute("aria-selected", "true");
    if (item) this.root.setAttribute("aria-activedescendant", this.scene.nodes[item.index].element.id);
    else this.root.removeAttribute("aria-activedescendant");
    this.spoken.textContent = item ? [item.label, item.detail].filter(Boolean).join(", ") : "";
    if (item && reveal) this.camera.reveal(item, false, atOnce);
    this.tell(SELECT, item);
    if (quiet) return;
    this.serial += 1;
    clearTimeout(this.later);
    if (wait) this.later = setTimeout(() => this.report(), wait);
    else this.report();
  }

  report() {
    this.setStateValue("selected", this.selected?.id ?? null);
    this.setStateValue("serial", this.serial);
  }

  tell(type, item) {
    const detail = { channel: this.channel, source: this.source, id: item?.id ?? null, links: item?.links ?? [] };
    window.dispatchEvent(new CustomEvent(type, { detail }));
  }

  fromElsewhere({ channel, source, id, links }, mark) {
    if (channel !== this.channel || source === this.source || !this.scene) return;
    const found = id === null && !links?.length ? [] : this.scene.related(id, links);
    if (mark === "related") this.forget();
    this.mark(mark, found);
    if (mark === "related" && found.length) this.camera.reveal(found[0]);
  }

  // Selection is one thing: what is selected elsewhere is no longer selected here.
  forget() {
    for (const { element } of this.lit) element.classList.remove("lit");
    this.selected?.element.classList.remove("selected");
    this.lit = [];
    this.selected = null;
    this.scene.labelEdges([]);
  }

  mark(name, items) {
    for (const element of this.svg.querySelectorAll(`.${name}`)) element.classList.remove(name);
    for (const item of items) item.element.classList.add(name);
  }

  itemAt(event) {
    const element = event.target.closest?.("[data-item]");
    return element && this.svg.contains(element) ? this.scene.items[element.dataset.item] : null;
  }

  click(event) {
    if (this.pointer.wasDrag()) return;
    const item = this.itemAt(event);
    if (item !== this.selected) this.select(item, { reveal: false });
  }

  activate(item) {
    if (item) this.setTriggerValue("activated", item.id);
  }

  hover(item, event) {
    if (event?.buttons) item = null;
    if (item) this.moveTip(event);
    if (item === this.hovered) return;
    for (const { element } of this.near) element.classList.remove("near");
    const around = item ? this.scene.around(item) : { edges: [], nodes: [] };
    this.near = item ? [...around.edges, ...around.nodes, item] : [];
    for (const { element } of this.near) element.classList.add("near");
    this.hovered = item;
    this.tip.hidden = !item;
    if (item) this.fillTip(item, event);
    this.tell(HOVER, item);
  }

  fillTip(item, event) {
    this.tip.replaceChildren();
    make("div", { class: "name" }, this.tip, item.label);
    if (item.detail) make("div", { class: "what" }, this.tip, item.detail);
    if (item.node.chips && !item.row) make("div", { class: "what" }, this.tip, item.node.chips.join(", "));
    if (item.tip) make("div", { class: "more" }, this.tip, item.tip);
    this.moveTip(event);
  }

  moveTip(event) {
    const box = this.root.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const left = Math.max(4, Math.min(x + 14, box.width - this.tip.offsetWidth - 6));
    const top = y + 18 + this.tip.offsetHeight > box.height ? y - 10 - this.tip.offsetHeight : y + 18;
    this.tip.style.transform = `translate(${left}px, ${Math.max(4, top)}px)`;
  }

  toggleBytes() {
    const on = this.root.classList.toggle("by-bytes");
    this.wide.setAttribute("aria-pressed", String(on));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
    const act = {
      ArrowDown: () => this.walk(0, 1), ArrowUp: () => this.walk(0, -1),
      ArrowLeft: () => this.walk(-1, 0), ArrowRight: () => this.walk(1, 0),
      "+": () => this.camera.zoom(1.25), "=": () => this.camera.zoom(1.25), "-": () => this.camera.zoom(1 / 1.25),
      0: () => this.camera.fit(), f: () => this.camera.fit(),
      "/": () => this.search.field.focus(),
      Escape: () => (this.search.field.value ? this.search.clear() : this.select(null)),
      Enter: () => !event.target.closest("button") && this.activate(this.selected),
    }[event.key];
    if (!act || (event.key === "Enter" && event.target.closest("button"))) return;
    event.preventDefault();
    event.stopPropagation();
    this.hover(null);
    act();
  }

  // Down and up follow edges (through a node's own rows first); left and right go to what stands beside.
  walk(across, down) {
    const { nodes, picture } = this.scene;
    if (!nodes.length) return;
    const from = this.selected;
    if (!from) return this.select(nodes.reduce((top, node) => (node.y < top.y ? node : top)), { wait: 150 });
    const [cx, cy] = [from.x + from.w / 2, from.y + from.h / 2];
    let next;
    if (down) {
      const rows = nodes[from.index].rows;
      const at = from.row ? rows.indexOf(from) : down > 0 ? -1 : 0;
      next = from.row || down > 0 ? rows[at + down] ?? (from.row && down < 0 ? nodes[from.index] : undefined) : undefined;
      const ends = (down > 0 ? this.scene.out : this.scene.in)[from.index].map((edge) => nodes[picture.edges[edge][down > 0 ? "t" : "s"]]);
      next ??= nearest(ends.filter((node) => node.index !== from.index), (node) => Math.abs(node.x + node.w / 2 - cx));
    } else {
      const beside = nodes.filter((node) => (node.x + node.w / 2 - cx) * across > 1 && node.y < from.y + from.h + 20 && node.y + node.h > from.y - 20);
      next = nearest(beside, (node) => Math.abs(node.x + node.w / 2 - cx) + Math.abs(node.y + node.h / 2 - cy));
    }
    if (next) this.select(next, { wait: 150 });
  }
}

function nearest(items, distance) {
  return items.reduce((best, item) => (best === undefined || distance(item) < distance(best) ? item : best), undefined);
}

function isDark(element) {
  const probe = make("span", { style: "color: var(--st-background-color, #fff)" }, element);
  const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.remove();
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
}

export default function (args) {
  const { parentElement } = args;
  let view = views.get(parentElement);
  if (!view) views.set(parentElement, (view = new GraphView(parentElement)));
  view.update(args);
  view.connect();
  return () => view.disconnect();
}
