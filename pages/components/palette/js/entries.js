// The entries of the shown run: a message of its own, so that other changes of the palette do not send them again.
import { listen, tell } from "../../js/shared.js";
import { RUN_ENTRIES } from "./received.js";
/** @import { Arguments } from "../../js/types.d.ts" */
/** @import { RunEntriesData } from "../../js/wire.d.ts" */

/** @type {WeakMap<HTMLElement, AbortController>} */
const listeners = new WeakMap();

/** @param {Arguments<RunEntriesData>} args */
export default function ({ data, parentElement, setStateValue }) {
  listeners.get(parentElement)?.abort();
  const listening = new AbortController();
  listeners.set(parentElement, listening);
  listen("want", (run) => setStateValue("wanted", run), listening.signal);
  RUN_ENTRIES.now = data;
  tell("entries", data);
  return () => listening.abort();
}
