// Sends Python's selection to one graph view; a view that mounts later finds the command in the map.
import { COMMANDS, tell } from "../../js/shared.js";
/** @import { CommandData } from "../../js/wire.d.ts" */

/** @param {{ data: CommandData }} given */
export default function ({ data }) {
  COMMANDS.set(data.source, data);
  tell("command", data);
  return () => {
    if (COMMANDS.get(data.source) === data) COMMANDS.delete(data.source);
  };
}
