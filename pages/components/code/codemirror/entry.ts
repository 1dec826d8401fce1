// What the code editor takes from CodeMirror: `make bundles` makes codemirror.min.js of it.
import { history, historyKeymap, indentLess, indentMore, standardKeymap } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, type StateCommand } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { styleTags, tagHighlighter, tags } from "@lezer/highlight";

export { EditorView };

const INDENT = "    ";
// The classes of the code view, which stand for token types of Pygments.
const colours = tagHighlighter([
  { tag: tags.keyword, class: "k" },
  { tag: [tags.bool, tags.null, tags.number], class: "m" },
  { tag: tags.string, class: "s" },
  { tag: [tags.comment, tags.docString], class: "c" },
  { tag: tags.function(tags.definition(tags.variableName)), class: "f" },
  { tag: tags.definition(tags.className), class: "t" },
  { tag: tags.meta, class: "p" },
  { tag: [tags.operator, tags.punctuation], class: "o" },
]);
const language = pythonLanguage.configure({
  props: [
    styleTags({
      "Decorator/VariableName": tags.meta,
      "ExpressionStatement/String": tags.docString,
      "FormatReplacement/{ FormatReplacement/}": tags.string,
      '"*" "**"': tags.operator,
      ":": tags.punctuation,
    }),
  ],
});

// Tab moves the selected lines; without a selection spaces come in.
const indent: StateCommand = (target) => {
  const { state, dispatch } = target;
  if (state.selection.ranges.some((range) => !range.empty)) return indentMore(target);
  dispatch(state.update(state.replaceSelection(INDENT), { scrollIntoView: true, userEvent: "input" }));
  return true;
};

export const python = [
  lineNumbers(),
  history(),
  language,
  syntaxHighlighting(colours),
  indentUnit.of(INDENT),
  EditorState.tabSize.of(INDENT.length),
  keymap.of([{ key: "Tab", run: indent, shift: indentLess }, ...standardKeymap, ...historyKeymap]),
];
