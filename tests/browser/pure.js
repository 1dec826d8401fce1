// Functions of the graph view that draw nothing, as globals.
import { cut, cutFacts } from "../../pages/components/graph/js/dom.js";
import { fateOf, groupOf } from "../../pages/components/graph/js/film.js";
import { glyph } from "../../pages/components/graph/js/icons.js";
import { scaleOf } from "../../pages/components/graph/js/overlay.js";
import { inColumns } from "../../pages/components/graph/js/picture/columns.js";
import { compose as composed } from "../../pages/components/graph/js/picture/compose.js";
import { composeFor } from "../../pages/components/graph/js/picture/opening.js";
import { knotAt } from "../../pages/components/graph/js/picture/warp.js";
import { wrongOfRandomTrees } from "./random_trees.js";

Object.assign(globalThis, {
  composed,
  composeFor,
  cut,
  cutFacts,
  fateOf,
  glyph,
  groupOf,
  inColumns,
  knotAt,
  scaleOf,
  wrongOfRandomTrees,
});
