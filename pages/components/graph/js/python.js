// What a view tells Python: values of its state, and how often the user has chosen, which dates what Python wishes.
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
  }

  /** @param {string} name @param {unknown} value */
  trigger(name, value) {
    this.args.setTriggerValue(name, value);
  }

  // The user has chosen, which will be reported: what Python wrote before is out of date at once.
  outdate() {
    this.serial += 1;
  }

  // Whether a wish was written after the user's last choice.
  /** @param {number} serial */
  heeds(serial) {
    if (this.serial && serial !== this.serial) return false;
    this.serial = serial;
    return true;
  }
}
