// Keys of the whole page; whoever types into a field or has a view's own keys under the fingers is left alone.
/** @import { Arguments } from "../js/types.d.ts" */
/** @import { KeysData } from "../js/wire.d.ts" */

const OWN = "input, textarea, select, [contenteditable='true'], [role='combobox'], .view, .cv";
/** @type {WeakMap<HTMLElement, (event: KeyboardEvent) => void>} */
const listeners = new WeakMap();

/** @param {Arguments<KeysData>} args */
export default function ({ data, parentElement, setTriggerValue }) {
  const before = listeners.get(parentElement);
  if (before) globalThis.removeEventListener("keydown", before);
  const listener = (/** @type {KeyboardEvent} */ event) => {
    const { key, ctrlKey, metaKey, altKey, defaultPrevented } = event;
    if (defaultPrevented || ctrlKey || metaKey || altKey || !data.keys.includes(key)) return;
    if (event.composedPath().some((part) => part instanceof Element && part.matches(OWN))) return;
    setTriggerValue("pressed", key);
  };
  listeners.set(parentElement, listener);
  globalThis.addEventListener("keydown", listener);
  document.body.setAttribute("aria-keyshortcuts", data.keys.join(" "));
  return () => globalThis.removeEventListener("keydown", listener);
}
