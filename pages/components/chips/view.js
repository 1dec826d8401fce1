// A row of chips. Called again whenever the data or the theme changes: it only rebuilds.
import { element } from "../js/shared.js";
/** @import { Arguments } from "../js/types.d.ts" */
/** @import { ChipsData } from "../js/wire.d.ts" */

/** @param {Arguments<ChipsData>} args */
export default function ({ data, parentElement, setTriggerValue }) {
  const row = element("div", "chips");
  for (const chip of data.chips) {
    const item = element(chip.page ? "button" : "span", `chip ${chip.tone}`);
    if (chip.tooltip) item.title = chip.tooltip;
    if (chip.tone && chip.tone !== "quiet") item.append(element("i", "dot"));
    item.append(element("b", "", chip.value));
    if (chip.label) item.append(element("span", "", chip.label));
    if (chip.page) item.onclick = () => setTriggerValue("open", chip.page);
    row.append(item);
  }
  const old = parentElement.querySelector(".chips");
  if (old) old.replaceWith(row);
  else parentElement.append(row);
}
