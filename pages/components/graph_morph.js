// Morph: two graphs whose items share ids; what is in both flies from its old place to its new one, the rest fades.
const FLIGHT_MS = 400;
const FOLD_MS = 200;

// Where every drawn item and row stands, by id, in coordinates of the picture.
function standing(stage) {
  const places = new Map();
  for (const [placed, element] of stage.drawn) {
    places.set(placed.item.id, { x: placed.x, y: placed.y });
    const m = stage.context.metrics;
    (placed.item.rows ?? []).forEach((row, at) => places.set(row.id, { x: placed.x + m.rowInset, y: placed.y + element.rowsFrom + at * m.row }));
  }
  return places;
}

function flyFrom(element, dx, dy, ms) {
  if (!dx && !dy) return;
  const here = element.transform.baseVal.consolidate()?.matrix ?? { e: 0, f: 0 };
  const at = (x, y) => ({ transform: `translate(${here.e + x}px, ${here.f + y}px)` });
  element.animate([at(dx, dy), at(0, 0)], { duration: ms, easing: "ease-in-out" });
}

function fadeIn(element, ms) {
  element.animate([{ opacity: 0 }, { opacity: 0, offset: 0.3 }, { opacity: 1 }], { duration: ms });
}

// Move what is drawn now from where it stood before; `shift` is by how much the camera jumped, in coordinates of the picture.
function flyAll(stage, before, shift, ms) {
  for (const [placed, element] of stage.drawn) {
    const old = before.get(placed.item.id);
    const [dx, dy] = old ? [old.x + shift.x - placed.x, old.y + shift.y - placed.y] : [0, 0];
    if (old) flyFrom(element, dx, dy, ms);
    const m = stage.context.metrics;
    const rows = (placed.item.rows ?? []).map((row, at) => ({ from: before.get(row.id), element: element.rows[at], y: element.rowsFrom + at * m.row }));
    for (const row of rows) {
      if (row.from) flyFrom(row.element, row.from.x + shift.x - placed.x - m.rowInset - dx, row.from.y + shift.y - placed.y - row.y - dy, ms);
    }
    if (old) continue;
    if (!rows.some((row) => row.from)) fadeIn(element, ms);
    else for (const part of element.children) if (!part.classList.contains("row")) fadeIn(part, ms);
  }
  fadeIn(stage.edges, ms);
}

class Morph {
  constructor(view, parent) {
    this.view = view;
    this.bar = make("div", { class: "segments", role: "group", "aria-label": "Which graph", hidden: "" }, parent);
    this.buttons = [0, 1].map((at) => button(this.bar, "", "", () => this.swap(at), { "aria-pressed": "false" }));
  }

  over(graph, morph) {
    this.bar.hidden = !morph;
    this.graphs = morph ? [graph, new Graph(morph)] : [graph];
    this.at = 0;
    if (!morph) return;
    morph.labels.forEach((label, at) => {
      this.buttons[at].textContent = this.buttons[at].title = label;
      this.buttons[at].setAttribute("aria-label", label);
    });
    this.tell();
  }

  tell() {
    this.buttons.forEach((element, at) => element.setAttribute("aria-pressed", String(at === this.at)));
  }

  swap(at) {
    const { view } = this;
    if (at === this.at || !this.graphs[at]) return;
    if (view.focus.on) view.focus.leave();
    this.at = at;
    this.tell();
    const flying = !calm() && !view.camera.far;
    const before = flying ? standing(view.stage) : new Map();
    const leaving = flying ? this.leavings() : null;
    const anchor = this.anchor();
    const { x, y, k } = view.camera;
    view.setGraph(this.graphs[at], anchor ? this.cameraOn(anchor) : null);
    if (!flying) return;
    view.drawNow();
    const now = view.camera;
    flyAll(view.stage, before, { x: (x - now.x) / k, y: (y - now.y) / k }, FLIGHT_MS);
    setTimeout(() => leaving.remove(), FLIGHT_MS);
  }

  // The old picture stays for a moment, fading.
  leavings() {
    const copy = this.view.canvas.cloneNode(true);
    copy.setAttribute("aria-hidden", "true");
    copy.classList.add("leavings");
    for (const element of copy.querySelectorAll("[data-id]")) element.removeAttribute("data-id");
    this.view.viewport.append(copy);
    copy.animate([{ opacity: 1 }, { opacity: 0 }], { duration: FLIGHT_MS / 2, fill: "forwards" });
    return copy;
  }

  // The item nearest the middle of the view that the other graph has too: it keeps its place on the screen.
  anchor() {
    const { view } = this;
    const other = this.graphs[this.at];
    return view.byDistance().find(({ placed }) => other.byId.has(placed.item.id) || placed.item.rows?.some((row) => other.byId.has(row.id)));
  }

  cameraOn({ placed }) {
    const { camera } = this.view;
    const other = this.graphs[this.at];
    const id = [placed.item.id, ...(placed.item.rows ?? []).map((row) => row.id)].find((each) => other.byId.has(each));
    const picture = compose(other.levels, other.unfolded);
    const { clientWidth, clientHeight } = this.view.viewport;
    if (picture.width * camera.k < clientWidth - 2 * MARGIN && picture.height * camera.k < clientHeight - 2 * MARGIN) return null;
    const there = other.shown(other.byId.get(id)[0], picture);
    if (!there) return null;
    const [x, y] = [camera.x + (placed.x + placed.w / 2) * camera.k, camera.y + placed.y * camera.k];
    return { x: x - (there.x + there.w / 2) * camera.k, y: y - there.y * camera.k, k: camera.k };
  }
}
