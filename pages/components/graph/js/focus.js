// Focus: a part of the graph instead of the whole: the nodes around one, or between two. Escape leads back.
import { counted } from "../../js/shared.js";
import { button, make } from "./dom.js";
import { NotFound, partOf } from "./model.js";
/** @import { PartData } from "../../js/wire.d.ts" */
/** @import { Choice, Spot } from "./types.d.ts" */
/** @import { Graph } from "./model.js" */
/** @import { GraphView } from "./view.js" */

const MOST_HOPS = 4;

export class Focus {
  hops = 1;
  /** @type {Choice | null} */
  around = null;
  /** @type {Choice | null} */
  from = null;
  /** @type {(Spot & { graph: Graph }) | null} */
  home = null;

  /** @param {GraphView} view @param {HTMLElement} parent */
  constructor(view, parent) {
    this.view = view;
    this.chip = make("div", { class: "chip-bar", hidden: "" }, parent);
    this.fewer = button(this.chip, "−", "Fewer hops", () => this.hop(-1));
    this.more = button(this.chip, "+", "More hops", () => this.hop(1));
    this.words = make("span", {}, this.chip);
    button(this.chip, "✕", "Back to the whole graph (Escape)", () => this.leave());
  }

  get on() {
    return !this.chip.hidden;
  }

  // Another graph: there is no part of it yet.
  forget() {
    this.chip.hidden = true;
    this.home = null;
  }

  // The selected node; without one, a message.
  /** @param {string} words */
  node(words) {
    const { choice, notice } = this.view;
    if (choice && choice.item.g === undefined) return choice;
    notice.say(words);
    return null;
  }

  neighbours() {
    const choice = this.node("Select an op first: a group has no neighbourhood.");
    if (!choice) return;
    Object.assign(this, { around: choice, from: null });
    return this.ask(
      { around: choice.id, hops: this.hops },
      () => `${counted(this.hops, "hop")} around ${choice.label}`,
    );
  }

  /** @param {number} by */
  hop(by) {
    const { around } = this;
    const hops = Math.min(MOST_HOPS, Math.max(1, this.hops + by));
    if (hops === this.hops || !around) return;
    this.hops = hops;
    this.view.root.focus({ preventScroll: true });
    this.ask({ around: around.id, hops }, () => `${counted(hops, "hop")} around ${around.label}`);
  }

  // First press: remember the selected node, and wait for the second to be picked.
  path() {
    const choice = this.node("First select the op at which the path starts.");
    if (!choice) return;
    this.from = choice;
    this.around = null;
    this.show(`Path from ${choice.label} to … (click a node)`, true);
  }

  // True if a click was the second end of a path.
  /** @param {Choice | null} choice */
  picks(choice) {
    if (!this.from || !choice || choice.id === this.from.id) return false;
    const from = this.from;
    this.from = null;
    this.ask({ from: from.id, to: choice.id }, (answer) => answer.title || `From ${from.label} to ${choice.label}`);
    return true;
  }

  /** @param {Record<string, string | number>} parameters @param {(answer: PartData) => string} words */
  async ask(parameters, words) {
    const { view } = this;
    view.busy(true);
    try {
      const answer = await view.main.source.part(parameters);
      this.enter(answer, words(answer));
    } catch (error) {
      if (!this.home) this.chip.hidden = true;
      view.failed(error instanceof NotFound && parameters.to ? "There is no path between these two nodes." : error);
    }
    view.busy(false);
  }

  /** @param {PartData} answer @param {string} words */
  enter(answer, words) {
    const { view } = this;
    const { x, y, k } = view.camera;
    this.home ??= { graph: view.graph, x, y, k };
    view.part = partOf(view.main, answer);
    this.show(words);
    view.setGraph(view.part);
  }

  /** @param {string} words @param {boolean} [waiting] */
  show(words, waiting = false) {
    this.words.textContent = words;
    this.fewer.hidden = this.more.hidden = !this.around || waiting;
    this.fewer.disabled = this.hops === 1;
    this.more.disabled = this.hops === MOST_HOPS;
    this.chip.hidden = false;
  }

  leave() {
    const { view, home } = this;
    Object.assign(this, { around: null, from: null, home: null });
    this.chip.hidden = true;
    view.part = null;
    if (!home) return;
    view.setGraph(home.graph, home);
    view.root.focus({ preventScroll: true });
  }
}
