// The search box of a flame chart: the names that contain a text, the number of their spans, and the current span.
import { FindBox } from "../../js/find_box.js";
import { NAME } from "./rows.js";
/** @import { FlameData, FlameSpan } from "../../js/wire.d.ts" */

export class FlameFinder extends FindBox {
  /** @type {Set<number> | null} */
  names = null;
  /** @type {FlameSpan[]} */
  spans = [];
  now = -1;

  // `changed` is called when other spans are hits, `go` with the one to show.
  /** @param {() => void} changed @param {(span: FlameSpan) => void} go @param {() => void} leave */
  constructor(changed, go, leave) {
    super("Find", "Find", leave);
    this.input.type = "search";
    this.changed = changed;
    this.go = go;
  }

  /** @param {FlameData} data */
  over(data) {
    this.data = data;
    this.input.placeholder = `Find a ${data.noun}`;
    this.input.setAttribute("aria-label", this.input.placeholder);
    this.find();
  }

  /** @override */
  find() {
    const wanted = this.input.value.trim().toLowerCase();
    const { names, spans } = /** @type {FlameData} */ (this.data);
    const matches = names.flatMap((name, index) => (name.text.toLowerCase().includes(wanted) ? [index] : []));
    this.names = wanted ? new Set(matches) : null;
    this.spans = spans.filter((span) => this.names?.has(span[NAME]));
    this.now = -1;
    this.tell();
    this.changed();
  }

  tell() {
    const count = this.spans.length.toLocaleString("en");
    const at = this.now < 0 ? "" : `${(this.now + 1).toLocaleString("en")} of `;
    this.tally.textContent = !this.names ? "" : this.spans.length ? at + count : "no match";
  }

  /** @param {number} by @override */
  step(by) {
    if (!this.spans.length) return;
    this.now = this.now < 0 && by < 0 ? this.spans.length - 1 : (this.now + by + this.spans.length) % this.spans.length;
    this.tell();
    this.go(this.spans[this.now]);
  }
}
