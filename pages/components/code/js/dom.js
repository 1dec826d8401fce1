// Small helpers of the code view: elements, colours, the keyboard's target, the clipboard, the overview ruler.

const MOST_TICKS = 300;

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function readLine([number, id, runs, links, colours, mark, note, tooltip, cut]) {
  return { number, id, runs, links, colours, mark, note, tooltip, cut, text: runs.map((run) => run[1]).join("") };
}

function noteOf(line) {
  const note = element("div", `note ${line.mark}`);
  note.append(element("p", "", line.note));
  return note;
}

function bands(colours) {
  const stops = colours.map((c, i) => `${c} ${(100 * i) / colours.length}% ${(100 * (i + 1)) / colours.length}%`);
  return `linear-gradient(${stops.join(", ")})`;
}

function isDark(host) {
  const probe = element("span", "");
  probe.style.color = getComputedStyle(host).getPropertyValue("--st-background-color");
  host.shadowRoot.append(probe);
  const [red, green, blue] = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.remove();
  return red * 0.3 + green * 0.6 + blue * 0.1 < 128;
}

function isTyping(event) {
  const target = event.composedPath()[0];
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // The clipboard API is there only over https and on localhost.
  const area = document.body.appendChild(element("textarea", ""));
  area.value = text;
  area.select();
  document.execCommand("copy");
  area.remove();
}

function ticks(indexesByKind, size) {
  const places = new Map();
  for (const [kind, indexes] of Object.entries(indexesByKind)) {
    for (const index of indexes.slice(0, MOST_TICKS)) places.set(Math.round((1000 * index) / size), kind);
  }
  return [...places].map(([place, kind]) => {
    const tick = element("i", kind);
    tick.style.top = `${place / 10}%`;
    return tick;
  });
}
