// Linked boxes of one kind; a click picks one. Called again whenever the data or the theme changes: it only
// rebuilds, and the focus stays on its box.
import { chips } from "./chips.js";
import { lineage } from "./lineage.js";
import { stages } from "./stages.js";
import { way } from "./way.js";
/** @import { Arguments, Drawn, Pick } from "../js/types.d.ts" */
/** @import { ChipsData, LineageData, StagesData, WayData } from "../js/wire.d.ts" */
/** @typedef {ChipsData | LineageData | StagesData | WayData} BoxesData */

/** @param {Arguments<BoxesData>} args */
export default function ({ data, parentElement, setTriggerValue }) {
  const { root, mounted } = drawn(data, (id) => setTriggerValue("picked", id));
  const old = parentElement.querySelector(`.${data.kind}`);
  const focused = old?.querySelector(":focus")?.getAttribute("data-id");
  if (old) old.replaceWith(root);
  else parentElement.append(root);
  for (const box of root.querySelectorAll("button")) {
    if (box.dataset.id && box.dataset.id === focused) box.focus({ preventScroll: true });
  }
  return mounted?.(parentElement, Boolean(focused));
}

/** @param {BoxesData} data @param {Pick} pick @returns {Drawn} */
function drawn(data, pick) {
  switch (data.kind) {
    case "chips":
      return chips(data, pick);
    case "stages":
      return stages(data, pick);
    case "way":
      return way(data, pick);
    case "lineage":
      return lineage(data, pick);
  }
}
