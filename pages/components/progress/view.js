// The timeline of a run: torch's phases by depth, and the worker's steps. Rebuilt whenever the data changes.
import { element, isDark } from "../js/shared.js";
import { figure } from "../js/words.js";
/** @import { Arguments } from "../js/types.d.ts" */
/** @import { ProgressData } from "../js/wire.d.ts" */

const ROW = 15;
const MOST_ROWS = 14;

/** @param {ProgressData} data */
function steps(data) {
  const list = element("ol", "steps");
  data.steps.forEach((step, index) => {
    const now = data.live && index === data.steps.length - 1;
    list.append(element("li", now ? "now" : "done", step));
  });
  for (const step of data.to_come) list.append(element("li", "to-come", step));
  return list;
}

/** @param {ProgressData} data @param {boolean} dark */
function timeline(data, dark) {
  const chart = element("div", "timeline");
  const rows = Math.min(MOST_ROWS, 1 + Math.max(0, ...data.spans.map((span) => span[2])));
  chart.style.height = `${rows * ROW + 22}px`;
  const length = data.length_s || 1;
  for (const [name, kind, depth, begin, seconds, open] of data.spans) {
    if (depth >= MOST_ROWS) continue;
    const bar = element("div", open ? "bar open" : "bar", seconds / length > 0.06 ? name : "");
    bar.style.left = `${(100 * begin) / length}%`;
    bar.style.width = `max(1px, ${(100 * seconds) / length}%)`;
    bar.style.top = `${depth * ROW}px`;
    bar.style.setProperty("--phase", (data.colours[kind] || data.colours.other)[dark ? 1 : 0]);
    bar.title = `${name}: ${figure(seconds, "s")}`;
    chart.append(bar);
  }
  const axis = element("div", "axis");
  for (const part of [0, 0.25, 0.5, 0.75, 1]) axis.append(element("span", "", figure(part * length, "s")));
  chart.append(axis);
  return chart;
}

/** @param {ProgressData} data @param {boolean} dark */
function legend(data, dark) {
  const row = element("div", "legend");
  const used = new Set(data.spans.map((span) => span[1]));
  for (const [kind, label] of Object.entries(data.legend)) {
    if (!used.has(kind)) continue;
    const item = element("span", "", label);
    item.style.setProperty("--phase", data.colours[kind][dark ? 1 : 0]);
    row.append(item);
  }
  return row;
}

/** @param {Arguments<ProgressData>} args */
export default function ({ data, parentElement }) {
  const dark = isDark(parentElement);
  const root = element("div", "progress");
  root.append(steps(data));
  if (data.spans.length) root.append(timeline(data, dark), legend(data, dark));
  const old = parentElement.querySelector(".progress");
  if (old) old.replaceWith(root);
  else parentElement.append(root);
}
