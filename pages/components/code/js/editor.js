// A code editor: a text area with transparent letters over the same text in colours. The text area is the browser's
// own, with its undo, selection and clipboard; Python gets the text when typing pauses or the field loses focus.
import { counted, element, isDark } from "../../js/shared.js";
import { cutLine } from "./python_line.js";
/** @import { Arguments } from "../../js/types.d.ts" */
/** @import { EditorData } from "../../js/wire.d.ts" */
/** @import { Open } from "./python_line.js" */

const REST_MS = 400;
const INDENT = "    ";
// A longer text is written in one colour.
const MOST_COLOURED = 200_000;
const LINE_PX = 20;
const AROUND_PX = 50;
/** @type {WeakMap<HTMLElement, Editor>} */
const editors = new WeakMap();

/** @param {Arguments<EditorData>} args */
export default function (args) {
  const editor = editors.get(args.parentElement) ?? new Editor(args);
  editors.set(args.parentElement, editor);
  editor.args = args;
  editor.root.dataset.theme = isDark(editor.root) ? "dark" : "light";
  return () => editor.tell();
}

class Editor {
  /** @type {string[]} */
  lines = [];
  resting = 0;
  leaving = false;

  /** @param {Arguments<EditorData>} args */
  constructor(args) {
    this.args = args;
    const { label, text, least, most } = args.data;
    this.told = text;
    this.least = least;
    this.most = most;
    this.root = element("div", "cv editor");
    this.area = element("textarea", "over");
    this.under = element("div", "under");
    this.numbers = element("div", "numbers");
    this.size = element("span", "size");
    this.sheet = element("div", "scroller");
    const bar = element("div", "bar");
    const hint = element("span", "hint", "Tab indents; Escape, then Tab leaves; Ctrl+Enter compiles");
    bar.append(element("span", "title", label), this.size, element("span", "gap"), hint);
    const layers = element("div", "layers");
    layers.append(this.under, this.area);
    this.under.setAttribute("aria-hidden", "true");
    this.numbers.setAttribute("aria-hidden", "true");
    this.sheet.append(this.numbers, layers);
    this.root.append(bar, this.sheet);
    args.parentElement.append(this.root);
    this.area.value = text;
    this.area.spellcheck = false;
    this.area.wrap = "off";
    for (const name of ["autocapitalize", "autocomplete", "autocorrect"]) this.area.setAttribute(name, "off");
    this.area.setAttribute("aria-label", label);
    this.area.oninput = () => this.changed();
    this.area.onblur = () => this.tell();
    this.area.onkeydown = (event) => this.key(event);
    this.draw();
  }

  changed() {
    this.draw();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.tell(), REST_MS);
  }

  tell() {
    clearTimeout(this.resting);
    if (this.area.value === this.told) return;
    this.told = this.area.value;
    this.args.setStateValue("text", this.told);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { key, ctrlKey, metaKey, altKey } = event;
    const leaving = this.leaving;
    if (!["Shift", "Tab"].includes(key)) this.leaving = key === "Escape";
    if (key === "Enter" && (ctrlKey || metaKey)) return this.tell();
    if (ctrlKey || metaKey || altKey || event.isComposing) return;
    if (key === "Enter") this.breakLine(event);
    else if (key === "Tab" && !leaving) this.indent(event);
  }

  // A new line has the indentation of the previous one, one step more after a colon.
  /** @param {KeyboardEvent} event */
  breakLine(event) {
    const before = this.area.value.slice(0, this.area.selectionStart).split("\n").at(-1) ?? "";
    const space = /^[ \t]*/.exec(before)?.[0] ?? "";
    event.preventDefault();
    insert(`\n${space}${/:\s*$/.test(before) ? INDENT : ""}`);
  }

  // The selected lines move by a step; without a selection spaces come in.
  /** @param {KeyboardEvent} event */
  indent(event) {
    const { area } = this;
    const { value, selectionStart: start, selectionEnd: end } = area;
    event.preventDefault();
    if (start === end && !event.shiftKey) return insert(INDENT);
    const first = value.lastIndexOf("\n", start - 1) + 1;
    const after = value.indexOf("\n", Math.max(end - 1, start));
    const last = after < 0 ? value.length : after;
    const moved = value.slice(first, last).split("\n").map((line) =>
      event.shiftKey ? line.replace(/^( {1,4}|\t)/, "") : line && INDENT + line
    ).join("\n");
    if (moved === value.slice(first, last)) return;
    area.setSelectionRange(first, last);
    insert(moved);
    area.setSelectionRange(start === end ? area.selectionEnd : first, area.selectionEnd);
  }

  // Only changed lines are drawn again.
  draw() {
    const texts = this.area.value.split("\n");
    const coloured = this.area.value.length <= MOST_COLOURED;
    /** @type {Open | null} */
    let open = null;
    const before = this.lines;
    /** @type {[string, string][][]} */
    const cut = texts.map((text) => {
      const line = coloured ? cutLine(text, open) : { runs: /** @type {[string, string][]} */ ([["", text]]), open };
      open = line.open;
      return line.runs;
    });
    this.lines = cut.map((runs) => runs.map(([kind, text]) => `${kind}\u0000${text}`).join("\u0001"));
    let [same, tail] = [0, 0];
    const least = Math.min(before.length, this.lines.length);
    while (same < least && before[same] === this.lines[same]) same += 1;
    while (tail < least - same && before.at(-1 - tail) === this.lines.at(-1 - tail)) tail += 1;
    for (let gone = before.length - tail - same; gone > 0; gone -= 1) this.under.children[same].remove();
    const next = this.under.children[same] ?? null;
    for (const runs of cut.slice(same, cut.length - tail)) this.under.insertBefore(lineOf(runs), next);
    if (before.length !== texts.length) this.count(texts.length);
  }

  /** @param {number} count */
  count(count) {
    this.numbers.textContent = Array.from({ length: count }, (_, index) => index + 1).join("\n");
    this.size.textContent = counted(count, "line");
    const high = count * LINE_PX + AROUND_PX;
    this.root.style.height = `${Math.min(Math.max(high, this.least), this.most)}px`;
  }
}

/** @param {[string, string][]} runs */
function lineOf(runs) {
  const line = element("div", "");
  line.append(...runs.map(([kind, text]) => element("span", kind, text)));
  // An empty line is as high as any other.
  if (!runs.length) line.append("\u200b");
  return line;
}

// Insert text as if it were typed, so that the browser can undo it.
/** @param {string} text */
function insert(text) {
  if (text) document.execCommand("insertText", false, text);
  else document.execCommand("delete");
}
