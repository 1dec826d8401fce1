// Steps as boxes, joined by arrows from column to column; a click selects one.
import { element } from "../js/shared.js";
/** @import { Drawn, Pick } from "../js/types.d.ts" */
/** @import { WayData, WayStage } from "../js/wire.d.ts" */

const MARKS = { "done": "✓", "failed": "✕", "not reached": "○" };

/** @param {WayData} data @param {Pick} pick @returns {Drawn} */
export function way(data, pick) {
  const row = element("div", "way");
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", "Stages");
  data.columns.forEach((stages, index) => {
    if (index) row.append(arrows(stages));
    const column = element("div", "column");
    for (const stage of stages) column.append(box(stage, stage.id === data.chosen, pick));
    row.append(column);
  });
  return { root: row };
}

/** @param {WayStage[]} to */
function arrows(to) {
  const column = element("div", "arrows");
  column.setAttribute("aria-hidden", "true");
  for (const stage of to) column.append(element("i", stage.state === "not reached" ? "arrow dim" : "arrow"));
  return column;
}

/** @param {WayStage} stage @param {boolean} chosen @param {Pick} pick */
function box(stage, chosen, pick) {
  const made = element("button", `box ${stage.state.replace(" ", "-")}`);
  made.dataset.id = stage.id;
  made.setAttribute("aria-pressed", String(chosen));
  const head = element("span", "head");
  const mark = element("span", "mark", MARKS[stage.state]);
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", stage.state);
  head.append(mark, element("b", "", stage.title), element("span", "figure", stage.figure));
  made.append(head, element("code", "call", stage.call), element("span", "told", stage.told));
  made.title = `${stage.call}\n${stage.told}`;
  made.onclick = () => pick(stage.id);
  return made;
}
