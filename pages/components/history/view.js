// A page's parameters are written after it has opened, each with a history entry: a change on the same page and run
// replaces the entry. Parameters of the next page may come before its path: entries written since the click that leads
// there are undone.
const kept = Symbol.for("compileboard-history");

/** @param {URL} before @param {URL} after */
function isSamePage(before, after) {
  const [old, fresh] = [before, after].map((address) => address.searchParams.get("run"));
  return before.pathname === after.pathname && (old === fresh || !old || !fresh);
}

export default function () {
  if (kept in globalThis) return;
  Object.assign(globalThis, { [kept]: true });
  let atClick = new URL(location.href);
  for (const gesture of ["pointerdown", "keydown", "popstate"]) {
    addEventListener(gesture, () => (atClick = new URL(location.href)), { capture: true });
  }
  const push = history.pushState.bind(history);
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
