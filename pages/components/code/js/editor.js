// A code editor: CodeMirror in the colours of the code view. Python gets the text when typing pauses or the field loses
// focus.
import { counted, element, isDark } from "../../js/shared.js";
import { EditorView, python } from "../codemirror/codemirror.min.js";
/** @import { Arguments } from "../../js/types.d.ts" */
/** @import { EditorData } from "../../js/wire.d.ts" */

const REST_MS = 400;
const SENT_MS = 100;
/** @type {WeakMap<HTMLElement, Editor>} */
const editors = new WeakMap();
// By key, the editor that appeared last. If the server draws the editor again, or a click on a link to another page
// follows a text at once, the server lacks the newest text: the next editor shows it and sends it again.
/** @type {Map<string, Editor>} */
const latest = new Map();

/** @param {Arguments<EditorData>} args */
export default function (args) {
  const editor = editors.get(args.parentElement) ?? new Editor(args);
  editors.set(args.parentElement, editor);
  editor.take(args);
  editor.root.dataset.theme = isDark(editor.root) ? "dark" : "light";
  return () => editor.leave();
}

class Editor {
  resting = 0;

  /** @param {Arguments<EditorData>} args */
  constructor(args) {
    this.args = args;
    const { key, label, text, least, most } = args.data;
    const earlier = latest.get(key);
    /** @type {Editor | null | undefined} */
    const knows = earlier?.sent.includes(text) ? earlier : null;
    // The text that the server has, and those that were sent after it.
    /** @type {string[]} */
    this.sent = knows ? knows.sent : [text];
    /** @type {string} */
    const newest = knows ? knows.text() : text;
    latest.set(key, this);
    this.root = element("div", "cv editor");
    this.root.style.setProperty("--least", `${least}px`);
    this.root.style.setProperty("--most", `${most}px`);
    this.size = element("span", "size");
    const bar = element("div", "bar");
    const hint = element("span", "hint", "Tab indents; Escape leaves; Ctrl+Enter compiles");
    bar.append(element("span", "title", label), this.size, element("span", "gap"), hint);
    this.root.append(bar);
    args.parentElement.append(this.root);
    this.view = new EditorView({
      doc: newest,
      parent: this.root,
      root: /** @type {ShadowRoot} */ (this.root.getRootNode()),
      extensions: [
        python,
        // axe takes only a field with a tabindex for focusable.
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
        EditorView.updateListener.of(({ docChanged }) => docChanged && this.changed()),
        EditorView.domEventHandlers({ blur: () => this.tell(), keydown: (event) => this.key(event) }),
      ],
    });
    this.sentDoc = this.view.state.doc;
    this.count();
    if (newest !== text) this.send();
  }

  /** @param {Arguments<EditorData>} args */
  take(args) {
    this.args = args;
    this.sent.splice(0, this.sent.indexOf(args.data.text));
  }

  /** @param {string} text */
  show(text) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  changed() {
    this.count();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.tell(), REST_MS);
  }

  count() {
    this.size.textContent = counted(this.view.state.doc.lines, "line");
  }

  tell() {
    clearTimeout(this.resting);
    if (!this.view.state.doc.eq(this.sentDoc)) this.send();
  }

  text() {
    return this.view.state.doc.toString();
  }

  send() {
    this.sentDoc = this.view.state.doc;
    const text = this.text();
    this.sent.push(text);
    this.args.setStateValue("text", text);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { key, ctrlKey, metaKey, target } = event;
    if (key === "Enter" && (ctrlKey || metaKey)) this.submit(event);
    // The page's keys work again, and Tab goes on from here.
    if (key === "Escape" && target instanceof HTMLElement) target.blur();
  }

  // The button's shortcut comes before a pause in typing. Streamlit sends a component's value later than a button's
  // click, so that the button would compile the text of before; the key is pressed again once the text is on its way.
  /** @param {KeyboardEvent} event */
  submit(event) {
    if (this.view.state.doc.eq(this.sentDoc)) return;
    event.stopPropagation();
    event.preventDefault();
    this.tell();
    const { key, code, ctrlKey, metaKey, target } = event;
    const keys = { key, code, ctrlKey, metaKey, bubbles: true, composed: true };
    // Who counts the keys that are down sees each come up again.
    const up = [keys, { ...keys, key: ctrlKey ? "Control" : "Meta", code: ctrlKey ? "ControlLeft" : "MetaLeft" }];
    setTimeout(() => {
      target?.dispatchEvent(new KeyboardEvent("keydown", keys));
      for (const each of up) {
        target?.dispatchEvent(new KeyboardEvent("keyup", { ...each, ctrlKey: false, metaKey: false }));
      }
    }, SENT_MS);
  }

  // CodeMirror listens to the window until it is destroyed. A component is left for a new theme, too.
  leave() {
    const next = latest.get(this.args.data.key);
    // What was typed here after the next editor appeared.
    if (next && next !== this && next.sent === this.sent && !this.view.state.doc.eq(this.sentDoc)) {
      next.show(this.text());
    }
    this.tell();
    setTimeout(() => {
      if (this.root.isConnected) return;
      this.view.destroy();
      editors.delete(this.args.parentElement);
    });
  }
}
