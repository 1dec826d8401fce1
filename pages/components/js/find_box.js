// The find box of a view: it searches while typing, Enter steps on and Shift+Enter back, Escape clears and leaves.
import { element } from "./shared.js";

export class FindBox {
  input = element("input", "");
  tally = element("span", "tally");
  box = element("label", "find");

  /** @param {string} placeholder @param {string} label @param {() => void} leave */
  constructor(placeholder, label, leave) {
    this.box.append(this.input, this.tally, element("kbd", "", "/"));
    this.input.placeholder = placeholder;
    this.input.setAttribute("aria-label", label);
    this.tally.setAttribute("aria-live", "polite");
    this.input.oninput = () => this.find();
    this.input.onkeydown = (event) => this.onKey(event, leave);
  }

  find() {}

  /** @param {number} _by */
  step(_by) {}

  focus() {
    this.input.focus({ preventScroll: true });
    this.input.select();
  }

  /** @param {KeyboardEvent} event @param {() => void} leave */
  onKey(event, leave) {
    event.stopPropagation();
    if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
    if (event.key !== "Escape") return;
    this.input.value = "";
    this.find();
    leave();
  }
}
