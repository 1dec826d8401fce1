// A page's parameters are written after it has opened, each with a history entry: a change on the same page and run
// replaces the entry. Parameters of the next page may come before its path: entries written since the click that leads
// there are undone.
const kept = Symbol.for("compileboard-history");
const MENU = '[data-testid="stSidebarNavItems"]';

/** @param {URL} before @param {URL} after */
function isSamePage(before, after) {
  const [old, fresh] = [before, after].map((address) => address.searchParams.get("run"));
  return before.pathname === after.pathname && (old === fresh || !old || !fresh);
}

// Streamlit's menu is one list with a box for each section, which a screen reader reports as a broken list. It exists
// before the page's content, and is made anew when the window becomes wide enough for it.
function nameMenu() {
  const menu = document.querySelector(MENU);
  if (!menu) return;
  if (menu.getAttribute("role") !== "presentation") menu.setAttribute("role", "presentation");
  for (const section of menu.children) {
    if (section.getAttribute("role") !== "list") section.setAttribute("role", "list");
  }
}

export default function () {
  if (kept in globalThis) return;
  Object.assign(globalThis, { [kept]: true });
  nameMenu();
  new MutationObserver(nameMenu).observe(document.body, { childList: true, subtree: true });
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
