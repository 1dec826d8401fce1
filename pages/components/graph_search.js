// The view's own search: by label, detail, id and rows; matches are ringed, the rest dimmed.
class Search {
  constructor(field, count, onStep) {
    Object.assign(this, { field, count, onStep, hits: [], at: -1, items: [], root: null });
    field.oninput = () => this.run();
    field.onkeydown = (event) => this.key(event);
  }

  over(root, items) {
    Object.assign(this, { root, items });
    this.texts = items.map((item) => `${item.label} ${item.detail ?? ""} ${item.id} ${(item.node.chips ?? []).join(" ")}`.toLowerCase());
    this.run();
  }

  run() {
    const wanted = this.field.value.trim().toLowerCase();
    for (const item of this.items) item.element.classList.remove("hit", "owner", "at");
    this.hits = wanted ? this.items.filter((_, index) => this.texts[index].includes(wanted)) : [];
    this.hits.sort((a, b) => a.y - b.y || a.x - b.x);
    for (const item of this.hits) {
      item.element.classList.add("hit");
      if (item.row) item.element.parentNode.classList.add("owner");
    }
    this.root.classList.toggle("searching", wanted !== "");
    this.at = -1;
    if (this.hits.length) this.step(1);
    this.tell(wanted);
  }

  step(by) {
    if (!this.hits.length) return;
    this.hits[this.at]?.element.classList.remove("at");
    this.at = (this.at + by + this.hits.length) % this.hits.length;
    this.hits[this.at].element.classList.add("at");
    this.onStep(this.hits[this.at]);
    this.tell(this.field.value.trim());
  }

  tell(wanted) {
    this.count.textContent = !wanted ? "" : this.hits.length ? `${this.at + 1} of ${this.hits.length}` : "no match";
  }

  clear() {
    this.field.value = "";
    this.run();
  }

  key(event) {
    event.stopPropagation();
    if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
    if (event.key !== "Escape") return;
    this.clear();
    this.field.closest(".view").focus({ preventScroll: true });
  }
}
