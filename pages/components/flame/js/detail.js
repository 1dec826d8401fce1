// Details of the selected span, and its links.
import { element } from "../../js/shared.js";
import { figure } from "../../js/words.js";
import { BEGIN, LENGTH, NAME, OWN, OWNER, THREAD } from "./rows.js";
/** @import { FlameData, FlameSpan } from "../../js/wire.d.ts" */

const HINT = "Zoom: wheel or W/S. Move: drag or A/D. Arrows select. Enter or double-click: zoom to span. f: show all";
const AREA_HINT = ". Shift+drag, or M for what is in view: sums of an area";

/** @param {number} micros */
function seconds(micros) {
  return figure(micros / 1e6, "s");
}

/** @param {FlameData} data @param {FlameSpan} span */
export function summary(data, span) {
  return `${data.names[span[NAME]].text} [${data.owners[span[OWNER]].id}]: ${seconds(span[LENGTH])}`;
}

/**
 * @param {HTMLElement} line
 * @param {FlameData} data
 * @param {FlameSpan | null} span
 * @param {(link: string, owner: string) => void} open
 */
export function tellOf(line, data, span, open) {
  line.classList.toggle("empty", !span);
  if (!span) {
    line.textContent = data.areas ? HINT + AREA_HINT : HINT;
    return;
  }
  const name = data.names[span[NAME]];
  const owner = data.owners[span[OWNER]];
  const facts = [
    `[${owner.id}]${owner.title ? ` ${owner.title}` : ""}`,
    `${seconds(span[LENGTH])} in all`,
    `${seconds(span[OWN])} by itself`,
  ];
  if (owner.whole_s) {
    facts.push(`${figure(span[LENGTH] / owner.whole_s / 1e4, "%")} of the compilation's ${figure(owner.whole_s, "s")}`);
  }
  facts.push(`from ${seconds(span[BEGIN])} on`);
  if (span[THREAD]) facts.push(`thread ${span[THREAD]}, beside the compiling one`);
  line.replaceChildren(element("code", "name", name.text), ...facts.map((fact) => element("span", "fact", fact)));
  for (const link of name.links.filter((one) => owner.links.includes(one))) {
    const button = element("button", "link", data.links[link]);
    button.onclick = () => open(link, owner.id);
    line.append(button);
  }
}
