// A view's messages to Python: its state, and the number of the user's choices, which dates Python's commands.
/** @import { Arguments } from "../../js/types.d.ts" */

export class Python {
  serial = 0;

  /** @param {Arguments<unknown>} args */
  constructor(args) {
    this.args = args;
  }

  /** @param {string} name @param {unknown} value */
  report(name, value) {
    this.outdate();
    this.args.setStateValue(name, value);
    this.args.setStateValue("serial", this.serial);
    // Other reports are no choice of an item: Python may have ended the last one meanwhile.
    if (name === "selected") this.args.setStateValue("picked", this.serial);
  }

  /** @param {string} name @param {unknown} value */
  trigger(name, value) {
    this.args.setTriggerValue(name, value);
  }

  // The user has chosen, which will be reported: Python's earlier commands are out of date at once.
  outdate() {
    this.serial += 1;
  }

  // True if a command was written after the user's last choice.
  /** @param {number} serial */
  heeds(serial) {
    if (this.serial && serial !== this.serial) return false;
    this.serial = serial;
    return true;
  }
}
