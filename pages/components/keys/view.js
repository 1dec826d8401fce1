// Keys of the whole page; whoever types into a field or has a view's own keys under the fingers is left alone.
const OWN = "input, textarea, select, [contenteditable='true'], [role='combobox'], .view, .cv";
const listeners = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  window.removeEventListener("keydown", listeners.get(parentElement));
  const listener = (event) => {
    const { key, ctrlKey, metaKey, altKey, defaultPrevented } = event;
    if (defaultPrevented || ctrlKey || metaKey || altKey || !data.keys.includes(key)) return;
    if (event.composedPath().some((part) => part.matches?.(OWN))) return;
    setTriggerValue("pressed", key);
  };
  listeners.set(parentElement, listener);
  window.addEventListener("keydown", listener);
  document.body.setAttribute("aria-keyshortcuts", data.keys.join(" "));
  return () => window.removeEventListener("keydown", listener);
}
