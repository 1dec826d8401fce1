// A page's parameters are written after it has opened, each with a history entry: a change on the same page and run
// replaces the entry. Parameters of the next page may come before its path: entries written since the click that leads
// there are undone.
const kept = Symbol.for("compileboard-history");

/** @param {URL} before @param {URL} after */
function isSamePage(before, after) {
  const [old, fresh] = [before, after].map((address) => address.searchParams.get("run"));
  return before.pathname === after.pathname && (old === fresh || !old || !fresh);
}

// Streamlit sends a field's value by a timer, and a change of the page at once: a value that is sent
// after it leads back. So a click on a link to a page waits for the timers before it.
/** @param {MouseEvent} event */
function afterValues(event) {
  const path = event.composedPath();
  const link = path.find((part) => part instanceof HTMLAnchorElement);
  if (!event.isTrusted || !link || link.target || link.download || link.origin !== location.origin) return;
  event.stopImmediatePropagation();
  event.preventDefault();
  setTimeout(() => path[0]?.dispatchEvent(new MouseEvent(event.type, event)));
}

export default function () {
  if (kept in globalThis) return;
  Object.assign(globalThis, { [kept]: true });
  let atClick = new URL(location.href);
  for (const gesture of ["pointerdown", "keydown", "popstate"]) {
    addEventListener(gesture, () => (atClick = new URL(location.href)), { capture: true });
  }
  const push = history.pushState.bind(history);
  addEventListener("click", afterValues, { capture: true });
  history.pushState = (state, unused, url) => {
    const here = new URL(location.href);
    const there = new URL(url ?? here, here);
    if (isSamePage(here, there)) {
      history.replaceState(state, unused, there);
      return;
    }
    if (isSamePage(here, atClick)) history.replaceState(history.state, unused, atClick);
    push(state, unused, there);
  };
}
