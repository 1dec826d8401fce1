// Largest: the launches that take most time, move most bytes and saved most, and the largest missed fusion. The pointer
// lights them up, or the folded groups that they are in; a click selects them and brings them into view.
import { kernelNumbers, make } from "./dom.js";
/** @import { LargestData } from "../../js/wire.d.ts" */
/** @import { GraphView } from "./view.js" */

// Two launches that torch did not fuse: Python then shows why.
const WHY = "why";
const LEAST_HEIGHT = 400;

export class Largest {
  digest = "";
  /** @type {LargestData | null} */
  pointed = null;

  /** @param {GraphView} view @param {HTMLElement} parent */
  constructor(view, parent) {
    this.view = view;
    this.root = make("div", { class: "largest", role: "group", "aria-label": "Largest launches" }, parent);
  }

  // A drawing of little height has no room for them.
  suit() {
    const { data } = this.view;
    if (this.digest === data.digest) return;
    this.digest = data.digest;
    this.root.replaceChildren();
    const none = data.height && data.height < LEAST_HEIGHT;
    for (const each of none ? [] : data.largest ?? []) this.add(each);
  }

  // Without a launch to go to, the chip says that there is none.
  /** @param {LargestData} each */
  add(each) {
    const { name, badge, text, value } = each;
    const title = `${name}: ${value} · ${text}${badge ? ` (kernel ${badge})` : ""}`;
    const element = make("button", { type: "button", title, ...(each.ids.length ? {} : { disabled: "" }) }, this.root);
    make("span", {}, element, name);
    element.append(" ");
    const line = make("span", { class: "value" }, element);
    make("b", {}, line, value);
    line.append(" ");
    if (badge) make("i", {}, line, kernelNumbers(badge));
    make("em", {}, element, text);
    element.onclick = () => this.go(each);
    element.onpointerenter = element.onfocus = () => this.point(each);
    element.onpointerleave = element.onblur = () => this.leave();
  }

  // Light up these launches; one in a folded group lights up the group, which says so.
  /** @param {LargestData} each */
  async point(each) {
    const { ids, badge, text } = each;
    const { elsewhere, tip } = this.view;
    this.pointed = each;
    await elsewhere.locate(ids);
    if (this.pointed !== each) return;
    const shown = ids.flatMap((id) => elsewhere.shown(id)[0] ?? []);
    this.light(shown);
    const groups = elsewhere.boxesOf(ids).filter(({ item }) => !ids.includes(item.id));
    if (!groups.length) return;
    const which = ids.length < 2 ? "It is" : shown.some((id) => ids.includes(id)) ? "One of them is" : "Both are";
    const where = groups.map(({ item }) => item.label).join(" and ");
    tip.beside(groups[0], kernelNumbers(badge) || text, `${which} in ${where}, folded: click to unfold`);
  }

  leave() {
    this.pointed = null;
    this.light([]);
    this.view.tip.hide();
  }

  /** @param {string[]} ids */
  light(ids) {
    this.view.stage.mark("preview", new Set(ids));
    this.view.remark();
  }

  /** @param {LargestData} each */
  async go({ ids: [first, ...others], value }) {
    const { view } = this;
    this.leave();
    const last = view.film.frames.length - 1;
    if (view.film.at !== last) view.film.go(last, true), view.python.report("frame", last);
    for (const id of [...others, first]) await view.goTo(id, { quiet: id !== first, reveal: false });
    await view.folds.unfold([first, ...others]);
    view.root.focus({ preventScroll: true });
    if (others.length) view.elsewhere.outline([first, ...others], `not fused: ${value}`);
    view.elsewhere.frame([first, ...others]);
    if (others.length) view.python.trigger("activated", WHY);
  }
}
