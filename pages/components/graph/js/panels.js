// Panels over the graph: its keys, error messages, and the tip at the pointer.
import { counted } from "../../js/shared.js";
import { figure } from "../../js/words.js";
import { bound, button, make } from "./dom.js";
import { groupOf } from "./film.js";
import { isHull } from "./picture/compose.js";
import { groupLine } from "./picture/scene.js";
/** @import { Choice, GroupItem, Line, Placed } from "./types.d.ts" */
/** @import { Camera } from "./picture/camera.js" */
/** @import { Film } from "./film.js" */
/** @import { Overlays } from "./overlay.js" */

const KEYS = [
  ["click, ↑ ↓ ← →", "select; walk to the nearest node"],
  ["Shift + ↑ ↓ ← →", "walk to the nearest kernel launch or group"],
  ["Enter, o, double-click", "unfold or fold a group, open a node"],
  ["Shift + double-click", "unfold all below a group"],
  ["/", "search; Enter and Shift+Enter step through the matches"],
  ["n", "the neighbourhood of the selected node"],
  ["p", "the path from the selected node to another"],
  [", and .", "previous and next step of the film"],
  ["+ − f", "zoom in, zoom out, fit"],
  ["F", "full screen, and back"],
  ["Shift + P", "present on a projector, and back"],
  ["m", "the small map"],
  ["Escape", "back, clear"],
  ["?", "this list"],
];

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

export class Notice {
  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.root = make("div", { class: "notice", role: "alert", hidden: "" }, parent);
  }

  get on() {
    return !this.root.hidden;
  }

  // An error message, with a button to try again if that is possible.
  /** @param {string} words @param {() => void} [again] */
  say(words, again) {
    this.root.replaceChildren(make("span", {}, undefined, words));
    if (again) button(this.root, "Try again", "Try again", () => (this.hide(), again()));
    button(this.root, "✕", "Close", () => this.hide());
    this.root.hidden = false;
  }

  hide() {
    this.root.hidden = true;
  }
}

// What only launches have: facts of groups, and a line of an op's tip.
const OF_LAUNCHES =
  /^(share of|time|graph inputs|launch$|launches|kernel$|not fused|fusion saved|against eager|written)/;
// Facts that say where a launch is from: they come first.
const WHERE = /^(module|spans|lines)$/;
const COMPUTED_AGAIN = /\ncomputed in .* launches$/;
const LAUNCH_VALUE = /^kernel|, of the launch:/;

// The tip at the pointer: names, facts and the meaning of the colour. Before the launches, it has none of theirs.
export class Tip {
  /** @param {HTMLElement} parent @param {Film} film @param {Overlays} overlays @param {Camera} camera */
  constructor(parent, film, overlays, camera) {
    this.parent = parent;
    this.camera = camera;
    this.film = film;
    this.overlays = overlays;
    this.root = make("div", { class: "tip", hidden: "" }, parent);
  }

  hide() {
    this.root.hidden = true;
  }

  /** @param {Choice} choice */
  show({ item }) {
    const version = this.film.versionOf(item);
    /** @type {{ label: string, detail?: string, tip?: string }} */
    const thing = version ? { label: version[1], detail: version[2], tip: version[3] } : item;
    this.root.hidden = false;
    this.root.replaceChildren();
    const { fusing, eager } = this.film;
    this.line("name", thing.label);
    this.line("what", item.g === undefined ? thing.detail : fusing && isHull(item) ? "" : groupLine(item));
    this.line("what", (item.chips ?? []).join(", "));
    const call = eager && item.g === undefined && groupOf(item, this.film.at)?.split(":")[2];
    if (call) this.line("what", `a part of eager's call ${call}`);
    else if (eager && item.g === undefined) this.line("what", "in no call of eager: the compiler added it");
    if (item.thin && !fusing) this.line("what", "a copy for this kernel: another computes the op, too");
    const facts = [...item.facts ?? []].sort(([a], [b]) => Number(WHERE.test(b)) - Number(WHERE.test(a)));
    for (const [name, value] of facts) {
      if (fusing && OF_LAUNCHES.test(name)) continue;
      const fact = make("div", { class: "pair" }, this.root);
      make("span", {}, fact, name);
      make("span", {}, fact, bound(value));
    }
    const value = this.overlays.told(item);
    if (!fusing || !LAUNCH_VALUE.test(value)) this.line("what", value);
    this.line("more", fusing ? thing.tip?.replace(COMPUTED_AGAIN, "") : thing.tip);
  }

  // An edge: its value, its ends, and whether the value is in memory; `around` is the group that it is in.
  /** @param {Line} line @param {GroupItem} [around] */
  showLine({ edge, s, t }, around) {
    this.root.hidden = false;
    this.root.replaceChildren();
    this.line("name", `${s.item.label} → ${t.item.label}`);
    this.line("what", edge.label || (edge.n ? counted(edge.n, "value") : ""));
    if (this.film.fusing) return;
    const inside = around && isHull(around) ? "stays in the kernel: no buffer, no traffic" : "";
    this.line("what", edge.bytes ? `${figure(edge.bytes, "B")} in memory` : this.film.joining ? inside : "");
    if (!edge.refused) return;
    this.line("what", "not fused: torch refused to make one kernel of the two");
    for (const [name, reason] of s.item.facts ?? []) {
      if (name.startsWith("not fused with") && name.includes(t.item.label)) this.line("more", reason);
    }
  }

  // At a box: what is in it.
  /** @param {Placed} placed @param {string} name @param {string} words */
  beside(placed, name, words) {
    this.root.hidden = false;
    this.root.replaceChildren();
    this.line("name", name);
    this.line("what", words);
    const { viewport, x, y, k } = this.camera;
    const { left, top } = viewport.getBoundingClientRect();
    this.follow({ clientX: left + x + placed.x * k, clientY: top + y + placed.y * k }, placed);
  }

  // Numbers stay with their units.
  /** @param {string} name @param {string | undefined} text */
  line(name, text) {
    if (text) make("div", { class: name }, this.root, bound(text));
  }

  // At the pointer, or beside a box in the picture, if there is room; above the bar of the steps.
  /** @param {{ clientX: number, clientY: number }} event @param {Placed | null} [placed] */
  follow(event, placed = null) {
    const box = this.parent.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const { offsetWidth: wide, offsetHeight: high } = this.root;
    const { x: panned, k } = this.camera;
    const right = placed ? panned + (placed.x + placed.w) * k + 8 : x + 14;
    const before = placed ? panned + placed.x * k - wide - 8 : 0;
    const aside = right + wide + 6 <= box.width ? right : before >= 4 ? before : 0;
    const left = aside || Math.max(4, Math.min(x + 14, box.width - wide - 6));
    const { viewport } = this.camera;
    const bottom = viewport.offsetTop + viewport.offsetHeight;
    const below = y + 18 + high > bottom ? y - 10 - high : y + 18;
    const top = placed && aside ? Math.min(y - 16, bottom - high - 6) : below;
    this.root.style.transform = `translate(${left}px, ${Math.max(4, top)}px)`;
  }
}
