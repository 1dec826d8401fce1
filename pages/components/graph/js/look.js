// A view's state in the URL: the unfolded groups and the camera position, so that a shared link shows the same.
// Only the browser uses it, Python does not.
/** @import { Graph } from "./model.js" */
/** @import { Camera } from "./picture/camera.js" */

const NAME = "look";
const DIGITS = 8;
const MOST_VIEWS = 2;
const MOST_GROUPS = 120;

/** @typedef {{ unfolded: number[], k: number, x: number, y: number }} Look */

/** @param {string} digest */
function own(digest) {
  return `${digest.slice(0, DIGITS)}.`;
}

function all() {
  return (new URLSearchParams(location.search).get(NAME) ?? "").split("~").filter(Boolean);
}

/** The URL's state of a graph; null if it has none, or an unreadable one.
 * @param {string} digest @returns {Look | null}
 */
export function lookOf(digest) {
  const [, groups = "", ...numbers] = all().find((one) => one.startsWith(own(digest)))?.split(".") ?? [];
  const [percent, x, y] = numbers.map(Number);
  if (numbers.length !== 3 || ![percent, x, y].every(Number.isFinite) || percent <= 0) return null;
  const unfolded = groups.split("-").filter(Boolean).map(Number).filter(Number.isInteger).slice(0, MOST_GROUPS);
  return { unfolded, k: percent / 100, x, y };
}

/** @param {Graph} graph @param {Camera} camera */
export function keepLook(graph, camera) {
  if (graph.unfolded.size > MOST_GROUPS) return;
  const [x, y] = camera.centre().map(Math.round);
  const said = `${own(graph.digest)}${[...graph.unfolded].join("-")}.${Math.round(camera.k * 100)}.${x}.${y}`;
  const others = all().filter((one) => !one.startsWith(own(graph.digest)));
  const url = new URL(location.href);
  url.searchParams.set(NAME, [...others, said].slice(-MOST_VIEWS).join("~"));
  if (url.href !== location.href) history.replaceState(history.state, "", url);
}
