// Motion of a flame chart to another range of time.
/** @import { Lens } from "./lens.js" */

const GLIDE_MS = 200;

export class Glide {
  frame = 0;

  stop() {
    cancelAnimationFrame(this.frame);
  }

  // Move there within 0.2 s, or at once if the user prefers reduced motion.
  /** @param {Lens} lens @param {number} from @param {number} length @param {() => void} paint */
  to(lens, from, length, paint) {
    this.stop();
    const [start, wide] = [lens.from, lens.length];
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const begun = performance.now();
    const step = () => {
      const part = calm ? 1 : Math.min(1, (performance.now() - begun) / GLIDE_MS);
      const eased = 1 - (1 - part) ** 3;
      lens.place(start + (from - start) * eased, Math.min(lens.whole, wide + (length - wide) * eased));
      paint();
      if (part < 1) this.frame = requestAnimationFrame(step);
    };
    step();
  }
}
