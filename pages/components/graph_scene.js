// The scene: a picture's nodes and edges as SVG elements, and an index of all that can be selected.
const SVG = "http://www.w3.org/2000/svg";
const OP_CLASS = /^[a-z]+$/;

function make(tag, attributes, parent, text) {
  const element = tag === "div" || tag === "button" || tag === "input" || tag === "span"
    ? document.createElement(tag)
    : document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent?.append(element);
  return element;
}

function opClass(name) {
  return `op-${OP_CLASS.test(name ?? "") ? name : "other"}`;
}

function cut(text, width, perCharacter) {
  const most = Math.max(1, Math.floor(width / perCharacter + 0.01));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

class Scene {
  constructor(picture, svg) {
    this.picture = picture;
    this.items = [];
    this.byId = new Map();
    this.byLink = new Map();
    this.out = picture.nodes.map(() => []);
    this.in = picture.nodes.map(() => []);
    svg.setAttribute("width", Math.ceil(picture.width));
    svg.setAttribute("height", Math.ceil(picture.height));
    const edges = make("g", { class: "edges" });
    const nodes = make("g", { class: "nodes" });
    this.labels = make("g", { class: "edge-labels" });
    this.edges = picture.edges.map((edge, index) => this.drawEdge(edge, index, edges));
    this.nodes = picture.nodes.map((node, index) => this.drawNode(node, index, nodes));
    svg.replaceChildren(edges, nodes, this.labels);
  }

  add(item) {
    this.items.push(item);
    for (const [map, keys] of [[this.byId, [item.id]], [this.byLink, item.links]]) {
      for (const key of keys) map.has(key) ? map.get(key).push(item) : map.set(key, [item]);
    }
    return item;
  }

  drawNode(node, index, parent) {
    const m = this.picture.metrics;
    const g = make("g", { class: `node ${opClass(node.cls)}`, transform: `translate(${node.x} ${node.y})` }, parent);
    g.id = `node-${index}`;
    g.setAttribute("role", "option");
    g.setAttribute("aria-label", [node.label, node.detail].filter(Boolean).join(", "));
    if (node.colour && CSS.supports("color", node.colour)) {
      g.style.setProperty("--kernel", node.colour);
      g.classList.add("kernel");
    }
    make("rect", { class: "body", width: node.w, height: node.h, rx: 4 }, g);
    make("path", { class: "stripe", d: `M4 0A4 4 0 0 0 0 4V${node.h - 4}A4 4 0 0 0 4 ${node.h}Z` }, g);
    const room = node.w - 2 * m.padX;
    let y = m.padY;
    make("text", { class: "label", x: m.padX, y: y + 13 }, g, cut(node.label, room, m.labelChar));
    y += m.label;
    if (node.detail) {
      make("text", { class: "detail", x: m.padX, y: y + 11 }, g, cut(node.detail, room, m.smallChar));
      y += m.detail;
    }
    g.dataset.item = this.items.length;
    const item = this.add({
      id: node.id, index, node, links: node.links ?? [], element: g, tip: node.tip,
      label: node.label, detail: node.detail, x: node.x, y: node.y, w: node.w, h: node.h,
    });
    item.rows = [];
    if (node.rows) y += 3;
    for (const row of node.rows ?? []) {
      item.rows.push(this.drawRow(row, node, y, g, index));
      y += m.row;
    }
    if (node.chips) this.drawChips(node, y, g);
    return item;
  }

  drawRow(row, node, y, parent, index) {
    const m = this.picture.metrics;
    const g = make("g", { class: `row ${opClass(row.cls)}`, transform: `translate(${m.rowInset} ${y})` }, parent);
    const width = node.w - 2 * m.rowInset;
    make("rect", { class: "body", width, height: m.row - 2, rx: 2 }, g);
    make("rect", { class: "dot", x: 0, y: 0, width: 3, height: m.row - 2, rx: 1 }, g);
    const room = width - 2 * m.rowText;
    const label = cut(row.label, room, m.smallChar);
    make("text", { class: "label", x: m.rowText, y: 12 }, g, label);
    const rest = room - (label.length + 1) * m.smallChar;
    if (row.detail && row.detail.length * m.smallChar <= rest) {
      make("text", { class: "detail", x: width - m.rowText / 2, y: 12, "text-anchor": "end" }, g, row.detail);
    }
    g.dataset.item = this.items.length;
    return this.add({
      id: row.id, index, node, row, links: row.links ?? [], element: g,
      label: row.label, detail: row.detail, x: node.x, y: node.y + y, w: node.w, h: m.row,
    });
  }

  drawChips(node, y, parent) {
    const m = this.picture.metrics;
    const right = node.w - m.padX;
    let x = m.padX;
    node.chips.forEach((chip, index) => {
      if (x > right) return;
      const last = index === node.chips.length - 1;
      const more = last ? 0 : 4 * m.chipChar;
      const full = chip.length * m.chipChar + 2 * m.chipPad;
      const fits = x + full + more <= right + 0.5 || index === 0;
      const text = fits ? cut(chip, right - x - 2 * m.chipPad - (full + more > right - x ? more : 0), m.chipChar)
        : `+${node.chips.length - index}`;
      const width = text.length * m.chipChar + 2 * m.chipPad;
      const g = make("g", { class: "chip", transform: `translate(${x} ${y + 4})` }, parent);
      make("rect", { width, height: 15, rx: 7 }, g);
      make("text", { x: m.chipPad, y: 11 }, g, text);
      x = fits ? x + width + m.chipGap : Infinity;
    });
  }

  drawEdge(edge, index, parent) {
    const p = edge.points;
    const g = make("g", { class: "edge" }, parent);
    let d = `M${p[0]} ${p[1]}`;
    for (let i = 2; i < p.length; i += 6) d += `C${p.slice(i, i + 6).join(" ")}`;
    const wide = edge.bytes > 0 ? Math.min(9, Math.max(1, (Math.log2(edge.bytes) - 8) * 0.5)) : 1;
    make("path", { class: "line", d, style: `--wide:${wide.toFixed(2)}` }, g);
    make("path", { class: "head", d: arrowHead(p) }, g);
    this.out[edge.s].push(index);
    this.in[edge.t].push(index);
    return { edge, element: g };
  }

  // The items that a selection elsewhere concerns: the same id, a link either way, or a link in common.
  related(id, links) {
    const found = new Set(id === null ? [] : [...(this.byId.get(id) ?? []), ...(this.byLink.get(id) ?? [])]);
    for (const link of links ?? []) {
      for (const item of this.byId.get(link) ?? []) found.add(item);
      for (const item of this.byLink.get(link) ?? []) found.add(item);
    }
    return [...found].sort((a, b) => a.y - b.y || a.x - b.x);
  }

  around(item) {
    const edges = [...this.in[item.index], ...this.out[item.index]];
    const nodes = edges.map((index) => this.picture.edges[index]).map((e) => (e.s === item.index ? e.t : e.s));
    return { edges: edges.map((index) => this.edges[index]), nodes: nodes.map((index) => this.nodes[index]) };
  }

  labelEdges(edges) {
    this.labels.replaceChildren();
    for (const { edge } of edges.slice(0, 24)) {
      if (!edge.label) continue;
      const p = edge.points;
      const middle = 2 * Math.floor(p.length / 4);
      make("text", { x: p[middle] + 5, y: p[middle + 1] + 3 }, this.labels, edge.label);
    }
  }
}

function arrowHead(p) {
  const [x, y] = p.slice(-2);
  let back = p.length - 4;
  while (back > 0 && Math.hypot(p[back] - x, p[back + 1] - y) < 0.5) back -= 2;
  const length = Math.hypot(x - p[back], y - p[back + 1]) || 1;
  const [ux, uy] = [(x - p[back]) / length, (y - p[back + 1]) / length];
  const [bx, by] = [x - ux * 6, y - uy * 6];
  return `M${x} ${y}L${bx - uy * 3} ${by + ux * 3}L${bx + uy * 3} ${by - ux * 3}Z`;
}
