// Streamlit's menu knows neither counts nor panes: its links get both as attributes, which view.css draws. React makes
// the links anew when the window becomes wide enough for the menu, and leaves attributes alone that it did not set.
/** @import { Arguments } from "../js/types.d.ts" */
/** @import { Mark, MenuData } from "../js/wire.d.ts" */

const MENU = '[data-testid="stSidebarNavItems"]';
const PANES = ".st-key-panes";
/** @type {Mark} */
const PLAIN = { count: "", reason: "" };
/** @type {WeakMap<HTMLElement, MutationObserver>} */
const watches = new WeakMap();

/** @param {Arguments<MenuData>} args */
export default function ({ data, parentElement }) {
  watches.get(parentElement)?.disconnect();
  const watch = new MutationObserver(() => mark(data));
  watches.set(parentElement, watch);
  watch.observe(document.body, { childList: true, subtree: true, attributeFilter: ["aria-current"] });
  mark(data);
  return () => watch.disconnect();
}

/** @param {MenuData} data */
function mark({ marks, entries }) {
  const here = nameOf(location.pathname);
  const menu = document.querySelector(MENU);
  if (menu) nameLists(menu);
  for (const link of menu?.querySelectorAll("a") ?? []) {
    const name = nameOf(link.pathname);
    const { count, reason } = marks[name] ?? PLAIN;
    put(link, "data-count", count);
    put(link, "title", reason);
    // Streamlit itself says "page" of the page that is open.
    if (entries[here] === name) put(link, "aria-current", "true");
    else if (link.getAttribute("aria-current") === "true") put(link, "aria-current", "");
  }
  const panes = document.querySelector(PANES);
  if (panes) put(panes, "role", "navigation");
  if (panes) put(panes, "aria-label", "Panes");
  for (const link of panes?.querySelectorAll("a") ?? []) {
    put(link, "aria-current", nameOf(link.pathname) === here ? "page" : "");
  }
}

// Streamlit's menu is one list with a box for each section, which a screen reader reports as a broken list.
/** @param {Element} menu */
function nameLists(menu) {
  put(menu, "role", "presentation");
  for (const section of menu.children) put(section, "role", "list");
}

/** @param {string} path */
function nameOf(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** @param {Element} element @param {string} name @param {string} value */
function put(element, name, value) {
  if (value && element.getAttribute(name) !== value) element.setAttribute(name, value);
  if (!value && element.hasAttribute(name)) element.removeAttribute(name);
}
