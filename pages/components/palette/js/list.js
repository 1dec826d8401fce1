// The palette's list: options in groups with a heading, one of them active; the focus stays in the field.
import { element } from "../../js/shared.js";
/** @import { Hit, Section } from "./rank.js" */

/** @typedef {Section & { more: number }} Shown */

export class List {
  root = element("div", "list");
  /** @type {HTMLElement[]} */
  options = [];
  /** @type {Hit[]} */
  hits = [];
  active = 0;

  /** @param {(hit: Hit) => void} choose @param {HTMLInputElement} input */
  constructor(choose, input) {
    this.choose = choose;
    this.input = input;
    const { root } = this;
    root.id = "palette-list";
    root.setAttribute("role", "listbox");
    root.setAttribute("aria-label", "Matches");
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-expanded", "true");
    input.setAttribute("aria-controls", root.id);
    // The focus stays where the text is.
    root.onmousedown = (event) => event.preventDefault();
  }

  /** @param {Shown[]} sections @param {boolean} keeps */
  draw(sections, keeps) {
    const before = keeps ? this.hits[this.active] : null;
    this.options = [];
    this.hits = [];
    this.root.replaceChildren(...sections.map((section, at) => this.section(section, at)));
    this.root.hidden = !this.hits.length;
    const same = this.hits.findIndex(({ group, entry }) =>
      group.kind === before?.group.kind && entry[0] === before.entry[0]
    );
    this.moveTo(Math.max(0, same), keeps);
  }

  /** @param {Shown} section @param {number} at */
  section({ title, hits, searched, leftOut, more }, at) {
    const box = element("div", "group");
    const head = element("div", "head", title);
    head.id = `palette-head-${at}`;
    if (leftOut) {
      head.append(element("span", "left", `${figure(searched)} of ${figure(searched + leftOut)} are searched`));
    }
    box.setAttribute("role", "group");
    box.setAttribute("aria-labelledby", head.id);
    box.append(head, ...hits.map((hit) => this.option(hit)));
    if (more) box.append(element("div", "more", `and ${figure(more)} more`));
    return box;
  }

  /** @param {Hit} hit */
  option(hit) {
    const { group, entry: [, label, detail], at } = hit;
    const place = this.options.length;
    const row = element("div", "option");
    row.id = `palette-option-${place}`;
    row.setAttribute("role", "option");
    const name = element("span", "name");
    name.append(...marked(label, at));
    const rest = [detail, group.detail].filter(Boolean).join(" · ");
    row.append(element("span", "kind", group.kind), name, element("span", "detail", rest));
    row.title = [group.kind, label, rest].filter(Boolean).join(" · ");
    row.onmousemove = () => place === this.active || this.moveTo(place, true);
    row.onclick = () => this.choose(hit);
    this.options.push(row);
    this.hits.push(hit);
    return row;
  }

  /** @param {number} by */
  move(by) {
    const last = this.options.length - 1;
    const isStep = Math.abs(by) === 1;
    if (isStep && this.active + by > last) this.moveTo(0);
    else if (isStep && this.active + by < 0) this.moveTo(last);
    else this.moveTo(Math.min(Math.max(this.active + by, 0), last));
  }

  /** @param {number} place counted from the end if negative @param {boolean} [stays] without scrolling */
  moveTo(place, stays = false) {
    this.options[this.active]?.setAttribute("aria-selected", "false");
    this.active = place < 0 ? Math.max(0, this.options.length + place) : place;
    const option = this.options[this.active];
    for (const other of this.options) other.setAttribute("aria-selected", String(other === option));
    if (option) this.input.setAttribute("aria-activedescendant", option.id);
    else this.input.removeAttribute("aria-activedescendant");
    if (stays || !option) return;
    // The heading of the first option is seen with it.
    if (this.active === 0) this.root.scrollTop = 0;
    else option.scrollIntoView({ block: "nearest" });
  }

  take() {
    const hit = this.hits[this.active];
    if (hit) this.choose(hit);
  }
}

/** @param {number} count */
function figure(count) {
  return count.toLocaleString("en");
}

// A label in pieces, those that match marked.
/** @param {string} label @param {number[]} at */
function marked(label, at) {
  const places = new Set(at);
  const pieces = [];
  for (let from = 0, to = 0; from < label.length; from = to) {
    const isMatch = places.has(from);
    while (to < label.length && places.has(to) === isMatch) to += 1;
    const text = label.slice(from, to);
    pieces.push(isMatch ? element("mark", "", text) : text);
  }
  return pieces;
}
