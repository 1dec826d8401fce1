// The entries of the shown run that Python sent last: its two components have a module each.
/** @import { RunEntriesData } from "../../js/wire.d.ts" */

/** @type {{ now: RunEntriesData | null }} */
export const RUN_ENTRIES =
  (/** @type {Record<symbol, { now: RunEntriesData | null }>} */ (globalThis)[Symbol.for("compileboard.entries")] ??= {
    now: null,
  });
