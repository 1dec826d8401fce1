// The camera: where the picture stands in its viewport; one style change a frame, on a div around the SVG.
const CLOSEST = 3;
const MARGIN = 20;
const LEAST_OPEN = 0.7;
const CROPPED_OPEN = 0.85;
const TOP = 52;
const TEXT_FROM = 0.3;
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

class Camera {
  constructor(viewport, stage) {
    Object.assign(this, { viewport, stage, x: 0, y: 0, k: 1, frame: 0, moved: false });
  }

  // Open at the top, readable: what stands in the first screen is centred, and shrunk a little if that shows all of it.
  show(picture) {
    this.picture = picture;
    this.moved = false;
    const { clientWidth: width, clientHeight: height } = this.viewport;
    const first = picture.nodes.filter((node) => node.y < height / LEAST_OPEN - TOP);
    const left = Math.min(...first.map((node) => node.x), picture.width);
    const right = Math.max(...first.map((node) => node.x + node.w), 0);
    const all = (width - 2 * MARGIN) / Math.max(right - left, 1);
    this.k = all >= LEAST_OPEN ? Math.min(1, all) : CROPPED_OPEN;
    const top = first.reduce((best, node) => (!best || node.y < best.y ? node : best), null);
    const middle = all >= LEAST_OPEN || !top ? (left + right) / 2 : top.x + top.w / 2;
    this.x = width / 2 - middle * this.k;
    const rest = height - picture.height * this.k;
    this.y = rest > 2 * TOP ? rest / 2 : TOP;
    this.apply();
  }

  fit() {
    const { clientWidth: width, clientHeight: height } = this.viewport;
    const { width: w, height: h } = this.picture;
    const k = Math.min(1.2, (width - 2 * MARGIN) / (w || 1), (height - 2 * MARGIN) / (h || 1));
    this.glide((width - w * k) / 2, (height - h * k) / 2, k);
    this.moved = true;
  }

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.moved = true;
    this.apply();
  }

  zoom(factor, atX = this.viewport.clientWidth / 2, atY = this.viewport.clientHeight / 2) {
    const whole = Math.min(this.viewport.clientWidth / (this.picture.width || 1), this.viewport.clientHeight / (this.picture.height || 1));
    const k = Math.min(CLOSEST, Math.max(Math.min(0.1, whole * 0.8), this.k * factor));
    this.x = atX - (atX - this.x) * (k / this.k);
    this.y = atY - (atY - this.y) * (k / this.k);
    this.k = k;
    this.moved = true;
    this.apply();
  }

  // Bring a rectangle of the picture into view: only as far as needed, or to the middle.
  reveal(item, toMiddle, atOnce) {
    const { clientWidth: width, clientHeight: height } = this.viewport;
    const k = toMiddle ? Math.max(this.k, 0.8) : Math.max(this.k, 0.5);
    const [cx, cy] = [item.x + item.w / 2, item.y + Math.min(item.h, 60) / 2];
    const [x, y] = [this.x + item.x * this.k, this.y + item.y * this.k];
    const inside = x >= 8 && y >= 48 && x + item.w * this.k <= width - 8 && y + Math.min(item.h, 120) * this.k <= height - 28;
    if (inside && k === this.k) return;
    this.glide(width / 2 - cx * k, height * (toMiddle ? 0.45 : 0.4) - cy * k, k, atOnce);
    this.moved = true;
  }

  glide(x, y, k, atOnce) {
    this.stage.classList.toggle("glide", !atOnce && !calm());
    Object.assign(this, { x, y, k });
    this.apply(true);
  }

  apply(gliding) {
    if (!gliding) this.stage.classList.remove("glide");
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.stage.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.k})`;
      this.stage.classList.toggle("far", this.k < TEXT_FROM);
    });
  }
}

// Drag, wheel and pinch; a drag shorter than a few pixels stays a click.
function moveWithPointer(viewport, camera) {
  const touches = new Map();
  let dragged = 0;
  let spread = 0;
  const at = (event) => {
    const box = viewport.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  viewport.onpointerdown = (event) => {
    if (event.button !== 0 || event.target.closest?.(".tools")) return;
    if (!touches.size) dragged = 0;
    touches.set(event.pointerId, at(event));
    spread = 0;
  };
  viewport.onpointermove = (event) => {
    const before = touches.get(event.pointerId);
    if (!before) return;
    const now = at(event);
    touches.set(event.pointerId, now);
    const fingers = [...touches.values()];
    if (fingers.length === 2) {
      const apart = Math.hypot(fingers[0][0] - fingers[1][0], fingers[0][1] - fingers[1][1]);
      const middle = [(fingers[0][0] + fingers[1][0]) / 2, (fingers[0][1] + fingers[1][1]) / 2];
      if (spread) camera.zoom(apart / spread, ...middle);
      spread = apart;
      dragged = 99;
      return;
    }
    dragged += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
    if (dragged < 4) return;
    viewport.setPointerCapture(event.pointerId);
    viewport.classList.add("dragging");
    camera.pan(now[0] - before[0], now[1] - before[1]);
  };
  viewport.onpointerup = viewport.onpointercancel = (event) => {
    touches.delete(event.pointerId);
    spread = 0;
    viewport.classList.remove("dragging");
  };
  viewport.onwheel = (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    camera.zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), ...at(event));
  };
  return { wasDrag: () => dragged >= 4 };
}
