// The height of a view: the part of the window below the view's top, in full screen or not.

const BELOW_PX = 6;
const LEAST_PX = 300;
// On a phone, titles leave little of the window: a view has this part of it, and the page scrolls.
const NARROW_PX = 640;
const NARROW_SHARE = 0.8;
const FULL = "data-full";
const PRESENTING = "data-presenting";

/** Keep a view at Python's height or, for a height of 0, at the window's height below its top. */
export class Room {
  height = 0;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.watch = new ResizeObserver(() => this.fit());
  }

  /** @param {number} height @param {AbortSignal} signal */
  keep(height, signal) {
    this.fit(height);
    if (height) return;
    globalThis.addEventListener("resize", () => this.fit(), { signal });
    const page = document.querySelector('[data-testid="stMainBlockContainer"]');
    if (page) this.watch.observe(page);
    signal.addEventListener("abort", () => this.watch.disconnect());
  }

  fit(height = this.height) {
    this.height = height;
    if (this.height) this.root.style.height = `${this.height}px`;
    else if (this.root.isConnected) this.root.style.height = `${this.left()}px`;
  }

  left() {
    const scrolled = document.querySelector('[data-testid="stMain"]')?.scrollTop ?? 0;
    const top = this.root.getBoundingClientRect().top + scrolled;
    const { innerHeight, innerWidth } = globalThis;
    const least = innerWidth < NARROW_PX ? Math.max(LEAST_PX, NARROW_SHARE * innerHeight) : LEAST_PX;
    return Math.floor(Math.max(least, innerHeight - top - BELOW_PX));
  }
}

export function isFull() {
  return document.documentElement.hasAttribute(FULL);
}

/** Show the drawing alone, in full screen if the browser allows it, else in the whole window. */
export function toggleFull(on = !isFull()) {
  const page = document.documentElement;
  page.toggleAttribute(FULL, on);
  if (on) page.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen();
  if (!on) page.removeAttribute(PRESENTING);
}

export function isPresenting() {
  return document.documentElement.hasAttribute(PRESENTING);
}

/** Present on a projector: larger type, the model's name beside the title, no menu, and the whole screen. */
export function present(on = !isPresenting()) {
  const run = document.querySelector(".st-key-header input");
  const model = run instanceof HTMLInputElement ? run.value.split(" · ")[0] : "";
  document.documentElement.style.setProperty("--model", JSON.stringify(model));
  document.documentElement.toggleAttribute(PRESENTING, on);
  toggleFull(on);
}
