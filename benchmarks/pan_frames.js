// Frames per second while a graph view is panned to and fro for some seconds, or zoomed in and out; for
// `locator(".view").evaluate(script, seconds)`.
/** @import { GraphView } from "../pages/components/graph/js/view.js" */

(async (
  /** @type {HTMLElement & { compileboardView: GraphView }} */ root,
  /** @type {number} */ seconds,
  zooms = false,
) => {
  const { camera } = root.compileboardView;
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const start = await frame();
  const times = [start];
  while (times.at(-1) - start < seconds * 1000) {
    const phase = (times.at(-1) - start) / 1000;
    if (zooms) camera.zoom(1 + 0.012 * Math.cos(phase * 2));
    else camera.pan(Math.cos(phase * 1.7) * 9, Math.cos(phase * 1.1) * 12);
    times.push(await frame());
  }
  const gaps = times.slice(1).map((time, index) => time - times[index]).sort((a, b) => a - b);
  const { drawn, total } = root.compileboardView.stats;
  return {
    frames_per_s: (1000 * gaps.length) / (times.at(-1) - start),
    slowest_ms: gaps.at(-1),
    p95_ms: gaps[Math.floor(gaps.length * 0.95)],
    scale: camera.k,
    drawn,
    total,
  };
});
