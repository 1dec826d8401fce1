// Random nested levels, laid out in rows, composed.
import { compose, headerOf } from "../../pages/components/graph/js/picture/compose.js";
/** @import { Item, LaidOut } from "../../pages/components/graph/js/types.d.ts" */

/** @typedef {{ x: number, y: number, w: number, h: number }} Box */

/** @param {Item} item */
function first(item) {
  return item.g === undefined ? item.i : item.from;
}

// Every way in which a picture of them is wrong.
export function wrongOfRandomTrees() {
  let seed = 7;
  const random = (/** @type {number} */ most) => (seed = (seed * 1103515245 + 12345) % 2147483648) % most;
  const grow = () => {
    /** @type {Map<number, LaidOut>} */
    const levels = new Map();
    let [groups, nodes] = [0, 0];
    const level = (/** @type {number} */ gid, /** @type {number} */ depth) => {
      /** @type {LaidOut} */
      const made = { id: gid, note: "", parts: [], items: [], edges: [] };
      levels.set(gid, made);
      for (let part = 0; part < 1 + random(3); part += 1) {
        let [y, width] = [0, 0];
        /** @type {number[][]} */
        const rows = [];
        for (let row = 0; row < 1 + random(4); row += 1) {
          const across = Array.from({ length: 1 + random(4) }, () => [60 + random(150), 30 + random(50)]);
          const high = Math.max(...across.map(([, h]) => h));
          let x = random(80);
          rows.push(across.map(([w, h]) => {
            const place = made.items.length;
            const box = { id: `i${gid}.${place}`, label: "x", cls: "", part, x, y: y + (high - h) / 2, w, h };
            x += w + 20 + random(60);
            if (depth < 3 && random(3) === 0) {
              const [g, from] = [groups++, nodes];
              level(g, depth + 1);
              made.items.push({ ...box, g, from, to: nodes });
            } else made.items.push({ ...box, i: nodes++ });
            width = Math.max(width, x);
            return place;
          }));
          y += high + 40;
        }
        made.parts.push([width, y - 40]);
        rows.slice(1).forEach((row, at) =>
          row.forEach((t) => {
            const above = rows[random(at + 1)];
            const s = above[random(above.length)];
            const [a, b] = [made.items[s], made.items[t]];
            const [x0, y0, x1, y1] = [a.x + a.w / 2, a.y + a.h, b.x + b.w / 2, b.y];
            /** @type {[number, number][]} */
            const ends = [[first(a), first(b)]];
            made.edges.push({ s, t, ends, points: [x0, y0, x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1] });
          })
        );
      }
      return made;
    };
    level(-1, 0);
    return { levels, groups };
  };
  /** @type {string[]} */
  const wrong = [];
  const check = (/** @type {boolean} */ good, /** @type {string} */ words) => good || wrong.push(words);
  for (let trial = 0; trial < 60; trial += 1) {
    const { levels, groups } = grow();
    const unfolded = new Set(Array.from({ length: groups }, (_, gid) => gid).filter(() => random(2)));
    const picture = compose(levels, unfolded);
    const first = JSON.stringify([picture.items, picture.edges.map((line) => line.points)], ["x", "y", "w", "h"]);
    check(
      first === JSON.stringify([
        compose(levels, unfolded).items,
        picture.edges.map((line) => line.points),
      ], ["x", "y", "w", "h"]),
      "not the same twice",
    );
    for (const placed of picture.levels.values()) {
      placed.forEach((a, i) =>
        placed.slice(i + 1).forEach((b) => {
          const apart = a.x + a.w <= b.x + 0.01 || b.x + b.w <= a.x + 0.01 || a.y + a.h <= b.y + 0.01 ||
            b.y + b.h <= a.y + 0.01;
          check(apart, `${a.item.id} overlaps ${b.item.id}`);
          if (a.item.part !== b.item.part) return;
          const order = (/** @type {number} */ before, /** @type {number} */ after) =>
            Math.abs(before) < 0.5 || Math.sign(before) === Math.sign(after);
          const middle = (/** @type {Box} */ box) => box.y + box.h / 2;
          check(
            order(middle(a.item) - middle(b.item), middle(a) - middle(b)),
            `${a.item.id} and ${b.item.id} changed rows`,
          );
          const across = (/** @type {Box} */ box) => box.x + box.w / 2;
          if (Math.abs(middle(a.item) - middle(b.item)) < 0.5) {
            check(
              order(across(a.item) - across(b.item), across(a) - across(b)),
              `${a.item.id} and ${b.item.id} changed places`,
            );
          }
        })
      );
    }
    for (const [gid, box] of picture.open) {
      for (const inner of picture.levels.get(gid) ?? []) {
        check(
          inner.x >= box.x && inner.y >= box.y + headerOf(box.item) - 0.01 &&
            inner.x + inner.w <= box.x + box.w + 0.01 &&
            inner.y + inner.h <= box.y + box.h + 0.01,
          `${inner.item.id} is not in ${box.item.id}`,
        );
      }
    }
    for (const { points, s, t } of picture.edges) {
      const on = (/** @type {Box} */ box, /** @type {number[]} */ [x, y]) =>
        x >= box.x - 0.01 && x <= box.x + box.w + 0.01 &&
        Math.min(Math.abs(y - box.y), Math.abs(y - box.y - box.h)) < 0.01;
      check(on(s, points.slice(0, 2)) && on(t, points.slice(-2)), `an edge of ${s.item.id} ends in the air`);
      check(points.every(Number.isFinite) && points.length % 6 === 2, "a broken curve");
    }
    for (const { inner, points, side } of picture.stubs) {
      const [x, y] = side ? points.slice(-2) : points.slice(0, 2);
      check(
        Math.abs(y - (side ? inner.y : inner.y + inner.h)) < 0.01 && x > inner.x && x < inner.x + inner.w,
        "a continuation ends in the air",
      );
    }
    const corner = Math.max(...picture.items.map((placed) => placed.y + placed.h));
    check(
      Math.min(...picture.items.map(({ x, y }) => Math.min(x, y))) >= -0.01 && corner <= picture.height + 0.01,
      "outside of the picture",
    );
  }
  return wrong;
}
