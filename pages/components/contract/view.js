// The contract of torch.compile and a backend: five stations in a row, and below them a line per compilation. Called
// again whenever the data or the theme changes: it only rebuilds.
import { element } from "../js/shared.js";
/** @import { Arguments, Setter } from "../js/types.d.ts" */
/** @import { ContractData, GivenData, StationData } from "../js/wire.d.ts" */

/** @type {Record<string, string>} */
const SIGNS = { g: "■", f: "✕", r: "●", "?": "○" };
/** @type {Record<string, string>} */
const KINDS = { g: "given", f: "failed", r: "again", "?": "unknown" };

/** @param {string} letter */
function sign(letter) {
  const shown = element("i", KINDS[letter] ?? "", SIGNS[letter] ?? "");
  shown.setAttribute("aria-hidden", "true");
  return shown;
}

/** @param {StationData} data @param {number} at */
function station(data, at) {
  const box = element("div", data.bad ? "station bad" : "station");
  box.setAttribute("role", "columnheader");
  box.style.gridColumn = String(at + 1);
  box.append(element("b", "", data.name), element("code", "", data.handed), element("span", "told", data.told));
  box.title = `${data.name}: ${data.handed}\n${data.told}`;
  return box;
}

/** @param {string} text @param {string} columns */
function span(text, columns) {
  const line = element("div", "span");
  line.style.gridColumn = columns;
  line.append(element("span", "", text));
  return line;
}

/** @param {GivenData} data */
function strip(data) {
  const cell = element("div", "cell ran");
  cell.setAttribute("role", "cell");
  const calls = element("span", "calls");
  [...data.marks].forEach((letter, call) => {
    const mark = element("span", "call");
    mark.title = data.said[call] ?? "";
    if (letter !== " ") {
      mark.setAttribute("role", "img");
      mark.setAttribute("aria-label", data.said[call] ?? "");
    }
    mark.append(sign(letter));
    calls.append(mark);
  });
  cell.append(calls, element("span", "told", data.ran));
  return cell;
}

/** @param {GivenData} data @param {ContractData} all @param {Setter} tell */
function line(data, all, tell) {
  const row = element("div", data.id === all.chosen ? "row chosen" : "row");
  row.setAttribute("role", "row");
  data.cells.forEach((text, at) => {
    const cell = element("div", data.failed && at > 1 ? "cell bad" : "cell");
    cell.setAttribute("role", "cell");
    cell.title = text;
    if (at === 0) {
      const button = element("button", "", `[${data.id}]`);
      button.setAttribute("aria-pressed", String(data.id === all.chosen));
      cell.append(button, " ");
    }
    cell.append(element(at === 0 ? "span" : "code", "", text));
    row.append(cell);
  });
  row.append(strip(data));
  row.onclick = () => tell("chosen", data.id);
  return row;
}

/** @param {ContractData} data */
function legend(data) {
  const row = element("div", "legend");
  const used = new Set(data.rows.flatMap((item) => [...item.marks]));
  for (const [letter, word] of Object.entries(data.legend)) {
    if (!used.has(letter)) continue;
    const item = element("span", "");
    item.append(sign(letter), word);
    row.append(item);
  }
  return row;
}

/** @param {Arguments<ContractData>} args */
export default function ({ data, parentElement, setTriggerValue }) {
  const old = parentElement.querySelector(".contract");
  const focused = old?.querySelector("button:focus")?.textContent;
  const root = element("div", "contract");
  const table = element("div", "table");
  table.setAttribute("role", "table");
  table.setAttribute("aria-label", "Graphs passed to the backend, returned callables, and their executions");
  const head = element("div", "head");
  head.setAttribute("role", "row");
  head.append(...data.stations.map(station));
  table.append(span(data.once, "1 / 5"), span(data.always, "5"), head);
  const lines = element("div", "rows");
  lines.setAttribute("role", "rowgroup");
  for (const item of data.rows) lines.append(line(item, data, setTriggerValue));
  table.append(lines);
  root.append(table);
  if (data.rows.length) root.append(legend(data));
  if (old) old.replaceWith(root);
  else parentElement.append(root);
  for (const button of root.querySelectorAll("button")) if (button.textContent === focused) button.focus();
  const chosen = /** @type {HTMLElement | null} */ (lines.querySelector(".chosen"));
  if (chosen) lines.scrollTop = chosen.offsetTop - (lines.clientHeight - chosen.offsetHeight) / 2;
}
