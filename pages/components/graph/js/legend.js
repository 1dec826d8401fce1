// The legend of a drawing of launches: the signs that it has, of the steps before the launches and of the launches.
import { make } from "./dom.js";
import { isHull } from "./picture/compose.js";
import { decadeOf, WIDTHS } from "./picture/curves.js";
import { shareOf } from "./picture/scene.js";
/** @import { Line, Picture } from "./types.d.ts" */

/** @param {HTMLElement} parent @param {Picture} picture */
export function legendOfLaunches(parent, { items, edges, open }) {
  if (!items.some(({ item }) => isHull(item))) return;
  const add = (
    /** @type {string} */ when,
    /** @type {string} */ sign,
    /** @type {string} */ words,
    /** @type {string} */ title = "",
  ) => {
    const entry = make("span", { class: `class ${when}`, title }, parent);
    const element = make("i", { class: sign }, entry);
    entry.append(words);
    return element;
  };
  const nodes = items.filter(({ item }) => item.g === undefined && !item.thin);
  if (nodes.length) add("of-eager", "region", "one call of eager"), add("of-fusions", "region", "fused so far");
  if (nodes.some(({ item }) => item.joins?.[0]?.[0] !== 0)) add("of-eager", "bare", "in no call of eager");
  if (items.some(({ item }) => item.badge)) add("of-launches", "kernel", "kernel");
  if (items.some(({ item }) => shareOf(item))) add("of-launches", "time", "time", "its share of the time");
  if (items.some(({ item }) => / by (?:bytes|FLOPs)$/.test(item.detail?.split(" · ")[0] ?? ""))) {
    add("of-launches", "about", "estimated time", "by the bytes or the FLOPs of the launch: no time was measured");
  }
  const dashed = items.filter(({ item }) => item.kind === "library");
  const bare = dashed.some(({ item }) => !item.links?.some((link) => link.startsWith("k:")));
  if (dashed.length) add("of-launches", "library", bare ? "library call, or no kernel" : "library call");
  if (items.some(({ item }) => item.thin)) add("", "copy", "copy", "another kernel computes this op, too");
  const used = new Set(edges.map(({ edge: { bytes } }) => decadeOf(bytes)));
  for (const width of WIDTHS.toReversed().filter((each) => used.has(each))) {
    const sign = add("of-launches", "width", width[2], "bytes of the value in memory");
    sign.style.setProperty("--wide", `${width[1]}px`);
  }
  const isKept = (/** @type {Line} */ { edge, gid }) => {
    const around = open.get(gid);
    return around && isHull(around.item) && !edge.bytes;
  };
  if (edges.some(isKept)) {
    add("of-launches", "kept", "stays in kernel", "a value without a buffer: no memory traffic");
  }
  if (edges.some(({ edge }) => edge.refused)) {
    add("of-launches", "refused", "fusion refused", "torch refused to make one kernel of the two");
  }
}
