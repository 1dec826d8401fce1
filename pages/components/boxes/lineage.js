// A frame's compilations as a tree with a strip of calls.
import { element } from "../js/shared.js";
/** @import { Drawn, Pick } from "../js/types.d.ts" */
/** @import { RecompileRow, LineageData } from "../js/wire.d.ts" */

const MARKS = { c: "■", f: "✕", u: "●", "?": "○" };
const HEADS = ["compilation", "failed guard", "expected → got", "call", "took"];

/** @param {string} letter */
function mark(letter) {
  return letter === "c" || letter === "f" || letter === "u" || letter === "?" ? MARKS[letter] : "";
}

/** @param {LineageData} data */
function head(data) {
  const row = element("tr", "");
  for (const name of HEADS) row.append(element("th", name === "took" || name === "call" ? "number" : "", name));
  data.calls.forEach((inputs, index) => {
    const cell = element("th", "cell", index);
    cell.title = `call ${index}: ${inputs}`;
    row.append(cell);
  });
  for (const cell of row.children) cell.setAttribute("scope", "col");
  const caption = element("caption", "");
  caption.append(element("code", "", data.name), ` ${data.told}`);
  const top = element("thead", "");
  top.append(row);
  return [caption, top];
}

/** @param {RecompileRow} item @param {LineageData} data @param {Pick} pick */
function line(item, data, pick) {
  const row = element("tr", item.id === data.chosen ? "row chosen" : "row");
  const name = element("th", "name");
  name.setAttribute("scope", "row");
  name.style.setProperty("--depth", String(Math.min(item.depth, 12)));
  if (item.depth) name.append(element("i", "branch"));
  const button = element("button", item.failed ? "bad" : "", `[${item.id}]`);
  button.dataset.id = item.id;
  button.setAttribute("aria-pressed", String(item.id === data.chosen));
  name.append(button);
  row.append(name);
  const because = element("td", item.depth || item.because ? "because" : "because quiet");
  because.append(item.because ? element("code", "", item.because) : "first");
  because.title = item.because;
  row.append(because, met(item), element("td", "number", item.call), element("td", "number", item.took));
  for (let index = 0; index < data.calls.length; index++) row.append(use(item, index, data));
  row.onclick = () => pick(item.id);
  return row;
}

/** @param {RecompileRow} item */
function met(item) {
  const cell = element("td", "met");
  if (item.old) cell.append(element("code", "", item.old));
  if (item.old || item.new) cell.append(" → ");
  if (item.new) cell.append(element("code", "", item.new));
  else if (item.old) cell.append(element("span", "quiet", "not recorded"));
  return cell;
}

/** @param {RecompileRow} item @param {number} index @param {LineageData} data */
function use(item, index, data) {
  const letter = item.calls[index] ?? " ";
  const cell = element("td", `cell ${letter === "?" ? "unknown" : letter.trim()}`);
  const word = data.legend[letter];
  if (!word) return cell;
  const shown = element("span", "", mark(letter));
  shown.setAttribute("role", "img");
  shown.setAttribute("aria-label", word);
  cell.append(shown);
  cell.title = `call ${index}: ${word}`;
  return cell;
}

/** @param {LineageData} data */
function legend(data) {
  const row = element("div", "legend");
  for (const [letter, word] of Object.entries(data.legend)) {
    if (!data.explained.includes(letter)) continue;
    const item = element("span", letter === "?" ? "unknown" : letter);
    item.append(element("i", "", mark(letter)), word);
    row.append(item);
  }
  return row;
}

/** @param {LineageData} data @param {Pick} pick @returns {Drawn} */
export function lineage(data, pick) {
  const root = element("div", "lineage");
  const table = element("table", "");
  const body = element("tbody", "");
  for (const item of data.rows) body.append(line(item, data, pick));
  table.append(...head(data), body);
  root.append(table);
  if (data.explained) root.append(legend(data));
  return { root };
}
