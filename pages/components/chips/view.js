// A row of chips. Called again whenever the data or the theme changes: it only rebuilds.
export default function ({ data, parentElement, setTriggerValue }) {
  const row = document.createElement("div");
  row.className = "chips";
  for (const chip of data.chips) {
    const item = document.createElement(chip.page ? "button" : "span");
    item.className = `chip ${chip.tone}`;
    if (chip.tooltip) item.title = chip.tooltip;
    if (chip.tone && chip.tone !== "quiet") {
      const dot = document.createElement("i");
      dot.className = "dot";
      item.append(dot);
    }
    const value = document.createElement("b");
    value.textContent = chip.value;
    item.append(value);
    if (chip.label) {
      const label = document.createElement("span");
      label.textContent = chip.label;
      item.append(label);
    }
    if (chip.page) item.onclick = () => setTriggerValue("open", chip.page);
    row.append(item);
  }
  const old = parentElement.querySelector(".chips");
  if (old) old.replaceWith(row);
  else parentElement.append(row);
}
