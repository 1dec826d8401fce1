// Tells one graph view what Python wants selected; a view that mounts later finds the command in the map.
const commands = (window[Symbol.for("compileboard.commands")] ??= new Map());

export default function ({ data }) {
  commands.set(data.source, data);
  window.dispatchEvent(new CustomEvent("compileboard:command", { detail: data }));
  return () => {
    if (commands.get(data.source) === data) commands.delete(data.source);
  };
}
