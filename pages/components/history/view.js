// A page's parameters are written after it has opened, each with an entry of its own: what stays on the page of a run
// replaces its entry. Those of the next page may come before its path does: what was written since the click that leads
// there is taken back.
const kept = Symbol.for("compileboard-history");
const MENU = '[data-testid="stSidebarNavItems"]';

/** @param {URL} before @param {URL} after */
function isSamePage(before, after) {
  const [old, fresh] = [before, after].map((address) => address.searchParams.get("run"));
  return before.pathname === after.pathname && (old === fresh || !old || !fresh);
}

// Streamlit's menu is one list with a box for each section, which a screen reader takes for a broken list. It is there
// before what the page shows, and made anew where the window gets room for it.
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
