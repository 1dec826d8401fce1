// Graphs whose levels are in the page itself, as in an HTML file of a run: there is no server to ask.
/** @import { FoundData, HitsData, LevelData, LevelsData, PartData } from "../../js/wire.d.ts" */

const LEFT_OUT = "These ops were left out of the file, because the graph is large.";
const NO_LAYOUT = "Only the dashboard can lay out a part of a graph.";

/** The levels of each graph in the page, by the graph's digest. @type {Map<string, Record<string, LevelData>>} */
export const EMBEDDED = new Map();

// The requests of a graph that is in the page: all its levels are known, so the rest is missing.
export class Embedded {
  hasServer = false;

  /** @param {number[]} _gids @returns {Promise<LevelsData>} */
  levels(_gids) {
    return Promise.reject(new Error(LEFT_OUT));
  }

  /** @param {number} _gid @returns {Promise<LevelsData>} */
  below(_gid) {
    return Promise.resolve({ levels: {} });
  }

  // Without an answer the loaded levels are searched.
  /** @param {string} _words @returns {Promise<HitsData>} */
  search(_words) {
    return Promise.reject(new Error(LEFT_OUT));
  }

  /** @param {Record<string, string | number>} _ends @returns {Promise<PartData>} */
  part(_ends) {
    return Promise.reject(new Error(NO_LAYOUT));
  }

  /** @param {string} _id @returns {Promise<FoundData>} */
  find(_id) {
    return Promise.reject(new Error(LEFT_OUT));
  }

  /** @param {string} route @returns {URL} */
  url(route) {
    throw new Error(`${route}: ${NO_LAYOUT}`);
  }
}
