// The button of the comments. It follows the selection of the page's views, and says which of their items have
// comments. Called again whenever the data or the theme changes.
import { COMMENTED, element, listen, tell } from "../js/shared.js";
/** @import { Arguments, Saying } from "../js/types.d.ts" */
/** @import { CommentsData } from "../js/wire.d.ts" */

const CHANNEL = "compileboard";
const WAIT_MS = 150;
// A larger number would take the room of a chip.
const MOST = 99;
const FIELD = "input, textarea, select, [contenteditable='true'], [role='combobox']";
/** @type {WeakMap<HTMLElement, CommentsButton>} */
const buttons = new WeakMap();

/** @param {Arguments<CommentsData>} args */
export default function (args) {
  const { parentElement } = args;
  const known = buttons.get(parentElement) ?? new CommentsButton(args);
  buttons.set(parentElement, known);
  known.update(args);
  return () => known.detach();
}

class CommentsButton {
  page = "";
  source = "";
  /** @type {string | null} */
  id = null;
  timer = 0;
  listening = new AbortController();

  /** @param {Arguments<CommentsData>} args */
  constructor(args) {
    this.args = args;
    this.button = element("button", "comments");
    this.label = element("span", "label");
    this.button.append(element("i", "bubble"), this.label);
    this.button.onclick = () => this.toggle();
    args.parentElement.append(this.button);
  }

  /** @param {Arguments<CommentsData>} args */
  update(args) {
    this.args = args;
    const { count, open } = args.data;
    this.label.textContent = count > MOST ? `${MOST}+` : count ? String(count) : "";
    this.button.setAttribute("aria-pressed", String(open));
    const words = count ? `Comments, ${count} open` : "Comments";
    this.button.setAttribute("aria-label", words);
    this.button.title = `${words} (C)`;
    this.attach();
  }

  attach() {
    this.listening.abort();
    this.listening = new AbortController();
    const { signal } = this.listening;
    listen("select", (message) => this.hear(message), signal);
    globalThis.addEventListener("keydown", (event) => this.key(event), { signal });
    this.mark();
  }

  detach() {
    clearTimeout(this.timer);
    this.listening.abort();
  }

  mark() {
    const { commented, pinned } = this.args.data;
    tell("comments", Object.assign(COMMENTED, { commented, pinned }));
  }

  /** @param {Saying} message */
  hear({ channel, source, id, initial }) {
    if (channel !== CHANNEL || initial) return;
    Object.assign(this, { page: location.pathname.split("/").at(-1) ?? "", source, id });
    clearTimeout(this.timer);
    if (this.args.data.open) this.timer = setTimeout(() => this.report(), WAIT_MS);
  }

  report() {
    const { page, source, id } = this;
    this.args.setStateValue("selected", { page, source, id });
  }

  toggle() {
    this.report();
    this.args.setTriggerValue("toggled", true);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { key, ctrlKey, metaKey, altKey, defaultPrevented } = event;
    if (defaultPrevented || ctrlKey || metaKey || altKey || key !== "c") return;
    const path = event.composedPath().filter((part) => part instanceof Element);
    if (!path.some((part) => part.matches(FIELD))) this.toggle();
  }
}
