// The palette's dialog. Ctrl-K, or Cmd-K on a Mac, opens it from anywhere in the page, from a field too: the event is
// taken before any view gets it. A dialog of Streamlit's stays alone, since it would take the focus back.
import { present, toggleFull } from "../../js/room.js";
import { counted, element, listen, tell } from "../../js/shared.js";
import { List } from "./list.js";
import { ranked } from "./rank.js";
import { RUN_ENTRIES } from "./received.js";
/** @import { Arguments } from "../../js/types.d.ts" */
/** @import { PaletteAim, PaletteData } from "../../js/wire.d.ts" */
/** @import { Hit, Section } from "./rank.js" */

const PLACEHOLDER = "Go to a page, a run, a kernel, a node, or start an action";
const ASKS_RUN = "Choose the other run";
const RUN = "Run";
// What is shown before anything is typed: recent runs, all actions and all pages.
const RECENT = 5;
const MOST_SHOWN = 8;
const PAGE_STEP = 8;
const IS_MAC = navigator.userAgent.includes("Mac");
const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE_STEP, PageUp: -PAGE_STEP };
/** @type {Record<string, () => void>} */
const ACTIONS = { present: () => present(true), full: () => toggleFull(true) };
/** @type {WeakMap<HTMLElement, Palette>} */
const palettes = new WeakMap();

/** @param {Arguments<PaletteData>} args */
export default function (args) {
  const { parentElement } = args;
  const palette = palettes.get(parentElement) ?? new Palette(args);
  palettes.set(parentElement, palette);
  // Streamlit calls again for new data, without the cleanup in between.
  palette.listening.abort();
  const listening = new AbortController();
  const { signal } = listening;
  palette.listening = listening;
  palette.args = args;
  globalThis.addEventListener("keydown", (event) => palette.heard(event), { capture: true, signal });
  listen("entries", () => palette.renew(), signal);
  palette.renew();
  return () => listening.abort();
}

/** @param {KeyboardEvent} event */
function isOpening({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  const isModified = IS_MAC ? metaKey && !ctrlKey : ctrlKey && !metaKey;
  return isModified && key.toLowerCase() === "k" && !altKey && !shiftKey;
}

class Palette {
  // The action that asks for a second run.
  asking = "";
  listening = new AbortController();
  dialog = element("dialog", "palette");
  step = element("span", "step");
  input = element("input", "");
  status = element("div", "status");
  list = new List((hit) => this.choose(hit), this.input);

  /** @param {Arguments<PaletteData>} args */
  constructor(args) {
    this.args = args;
    const { dialog, input, list } = this;
    dialog.setAttribute("aria-label", "Command palette");
    input.type = "text";
    input.autocomplete = "off";
    input.spellcheck = false;
    input.oninput = () => this.find();
    this.status.setAttribute("role", "status");
    const field = element("div", "field");
    field.append(this.step, input, element("kbd", "", "Esc"));
    dialog.append(field, list.root, this.status);
    dialog.onkeydown = (event) => this.key(event);
    // Keys of the page, and Streamlit's, would see a dialog and not its field.
    for (const name of ["keyup", "keypress"]) dialog.addEventListener(name, (event) => event.stopPropagation());
    dialog.onclick = (event) => event.target === dialog && dialog.close();
    args.parentElement.append(dialog);
  }

  /** @param {KeyboardEvent} event */
  heard(event) {
    if (!isOpening(event) || (!this.dialog.open && document.querySelector('[data-testid="stDialog"]'))) return;
    event.preventDefault();
    event.stopPropagation();
    if (this.dialog.open) this.dialog.close();
    else this.open();
  }

  open() {
    const { run } = this.args.data;
    this.input.value = "";
    this.ask("");
    this.dialog.showModal();
    this.input.focus();
    this.list.root.scrollTop = 0;
    if (run) tell("want", run);
  }

  // What Python sent anew changes neither the query nor the choice.
  renew() {
    if (this.dialog.open) this.find(true);
  }

  /** @param {string} action */
  ask(action) {
    this.asking = action;
    this.step.hidden = !action;
    this.step.textContent = action && this.labelOf(action).replace(/…$/, "");
    this.input.placeholder = action ? ASKS_RUN : PLACEHOLDER;
    this.input.setAttribute("aria-label", action ? ASKS_RUN : PLACEHOLDER);
    this.find();
  }

  /** @param {string} action */
  labelOf(action) {
    const entries = this.args.data.groups.flatMap((group) => group.aim ? [] : group.entries);
    return entries.find(([id]) => id === action)?.[1] ?? "";
  }

  find(keeps = false) {
    const query = this.input.value;
    const sections = ranked(this.groups(), query).filter(({ hits }) => hits.length);
    const shown = query.trim() || this.asking ? sections.map((section) => this.cut(section)) : this.first(sections);
    const count = sections.reduce((sum, { hits }) => sum + hits.length, 0);
    this.list.draw(shown, keeps);
    const isNone = !shown.some(({ hits }) => hits.length);
    const result = isNone
      ? `No match for “${query.trim()}”`
      : query.trim()
      ? counted(count, "match").replace("hs", "hes")
      : "";
    const reading = this.isReading() ? "Reading the kernels and nodes of this run…" : "";
    this.status.textContent = [result, reading].filter(Boolean).join(". ");
  }

  groups() {
    const { groups, run, with_run } = this.args.data;
    const aim = with_run[this.asking];
    if (aim) {
      const others = groups.filter(({ kind }) => kind === RUN);
      return others.map((group) => ({ ...group, aim, entries: group.entries.filter(([id]) => id !== run) }));
    }
    const now = RUN_ENTRIES.now;
    return now && now.run === run ? [...groups, ...now.groups] : groups;
  }

  isReading() {
    const { run } = this.args.data;
    return Boolean(run) && !this.asking && RUN_ENTRIES.now?.run !== run;
  }

  /** @param {Section} section @returns {Section & { more: number }} */
  cut(section) {
    const most = this.asking && !this.input.value ? Infinity : MOST_SHOWN;
    return { ...section, hits: section.hits.slice(0, most), more: Math.max(0, section.hits.length - most) };
  }

  // The shown run is no run to go to.
  /** @param {Section[]} sections @returns {(Section & { more: number })[]} */
  first(sections) {
    const groups = this.args.data.groups;
    const kinds = new Set(groups.map(({ kind }) => kind));
    return sections.filter(({ kind }) => kinds.has(kind)).map((section) => {
      const { run } = this.args.data;
      const hits = section.kind === RUN
        ? section.hits.filter(({ entry }) => entry[0] !== run).slice(0, RECENT)
        : section.hits;
      return { ...section, hits, more: 0 };
    }).filter(({ hits }) => hits.length);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    event.stopPropagation();
    if (event.isComposing) return;
    const { key } = event;
    const by = /** @type {Record<string, number>} */ (STEPS)[key];
    if (by) this.list.move(by);
    else if (key === "Home") this.list.moveTo(0);
    else if (key === "End") this.list.moveTo(-1);
    else if (key === "Enter") this.list.take();
    else if (key === "Escape") this.dialog.close();
    else if (key === "Backspace" && this.asking && !this.input.value) this.ask("");
    else return;
    event.preventDefault();
  }

  /** @param {Hit} hit */
  choose({ group, entry: [id] }) {
    const { with_run } = this.args.data;
    if (!group.aim && id in with_run) {
      this.input.value = "";
      this.ask(id);
      return;
    }
    this.dialog.close();
    if (!group.aim && id in ACTIONS) ACTIONS[id]();
    else this.args.setTriggerValue("chosen", chosenOf(group.aim, id));
  }
}

/** @param {PaletteAim | null} aim @param {string} id */
function chosenOf(aim, id) {
  if (!aim) return { action: id, page: "", query: {} };
  if (!aim.name) return { action: "", page: id, query: { ...aim.query } };
  return { action: "", page: aim.page, query: { ...aim.query, [aim.name]: id } };
}
