// Python cut into pieces, line by line, with the code view's classes from Pygments: the colours of a line depend on its
// text and on the string that is open at its start.

/** @typedef {{ end: string, kind: string }} Open a string over several lines: how it ends, and its class */
/** @typedef {{ runs: [string, string][], open: Open | null }} Cut */

const WORDS = {
  k: "and as assert async await break class continue def del elif else except finally for from global if import in " +
    "is lambda nonlocal not or pass raise return try while with yield self cls",
  m: "True False None NotImplemented Ellipsis",
  t: "abs all any bin bool bytearray bytes callable chr classmethod complex dict dir divmod enumerate eval filter " +
    "float format frozenset getattr hasattr hash hex id input int isinstance issubclass iter len list map max min " +
    "next object oct open ord pow print property range repr reversed round set setattr slice sorted staticmethod str " +
    "sum super tuple type vars zip Exception ValueError TypeError RuntimeError KeyError IndexError AttributeError " +
    "NotImplementedError StopIteration AssertionError ImportError OSError ZeroDivisionError",
};
/** @type {Map<string, string>} */
const KINDS = new Map(Object.entries(WORDS).flatMap(([kind, words]) => words.split(" ").map((word) => [word, kind])));
const TOKEN = new RegExp(
  [
    "(?<space>\\s+)",
    "(?<c>#.*)",
    "(?<triple>[rRbBuUfFtT]{0,2}(?:\"\"\"|'''))",
    "(?<s>[rRbBuUfFtT]{0,2}(?:\"(?:\\\\.|[^\"\\\\])*[\"\\\\]?|'(?:\\\\.|[^'\\\\])*['\\\\]?))",
    "(?<m>0[xXoObB][\\da-fA-F_]+|(?:\\d[\\d_]*\\.?[\\d_]*|\\.\\d[\\d_]*)(?:[eE][-+]?\\d+)?[jJ]?)",
    "(?<word>[\\p{L}_][\\p{L}\\p{N}_]*)",
    "(?<o>[-+*/%=<>!&|^~:;,.()\\[\\]{}@\\\\])",
    "(?<rest>.)",
  ].join("|"),
  "suy",
);

/** @param {string} text @param {Open | null} open @returns {Cut} */
export function cutLine(text, open) {
  /** @type {[string, string][]} */
  const runs = [];
  let at = 0;
  let before = "";
  if (open) {
    const end = endOf(text, 0, open.end);
    add(runs, open.kind, text.slice(0, end ?? text.length));
    if (end === null) return { runs, open };
    at = end;
  }
  const decorator = open ? null : /^\s*@[\p{L}_][\p{L}\p{N}_]*/u.exec(text);
  if (decorator) {
    add(runs, "p", decorator[0]);
    at = decorator[0].length;
  }
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const { 0: found, groups } = /** @type {RegExpExecArray} */ (TOKEN.exec(text));
    if (groups?.triple) {
      const kind = text.slice(0, at).trim() ? "s" : "c";
      const end = endOf(text, at + found.length, found.slice(-3));
      add(runs, kind, text.slice(at, end ?? text.length));
      if (end === null) return { runs, open: { end: found.slice(-3), kind } };
      at = end;
      continue;
    }
    if (groups?.s && /^[rR]?[fF]/.test(found)) addFilled(runs, found);
    else add(runs, kindOf(found, groups ?? {}, before), found);
    if (!groups?.space) before = found;
    at += found.length;
  }
  return { runs, open: null };
}

/** @param {string} found @param {Record<string, string | undefined>} groups @param {string} before */
function kindOf(found, groups, before) {
  if (groups.word && before === "def") return "f";
  if (groups.word && before === "class") return "t";
  // An attribute may have a builtin's name.
  if (groups.word) return before === "." && !WORDS.k.split(" ").includes(found) ? "" : KINDS.get(found) ?? "";
  return ["c", "s", "m", "o"].find((kind) => groups[kind]) ?? "";
}

// An f-string with replacement fields, which are code themselves.
/** @param {[string, string][]} runs @param {string} text */
function addFilled(runs, text) {
  for (const part of text.split(/(\{\{|\{[^{}]*\})/)) {
    if (!/^\{[^{}]+\}$/.test(part)) {
      add(runs, "s", part);
      continue;
    }
    add(runs, "s", "{");
    for (const [kind, inner] of cutLine(part.slice(1, -1), null).runs) add(runs, kind, inner);
    add(runs, "s", "}");
  }
}

// The end of an open string, after its quotes; a backslash escapes the next character.
/** @param {string} text @param {number} from @param {string} quotes */
function endOf(text, from, quotes) {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text.startsWith(quotes, at)) return at + quotes.length;
  }
  return null;
}

/** @param {[string, string][]} runs @param {string} kind @param {string} text */
function add(runs, kind, text) {
  const last = runs.at(-1);
  if (last && (last[0] === kind || !text.trim())) last[1] += text;
  else if (text) runs.push([kind, text]);
}
