// Written by `make docs` from the structs of pages/components and core.views.wire: messages to the browser.

/** A version of a node that changes during the film, valid from `frame` on. */
export type NodeVersion = [
  frame: number,
  label: string,
  detail: string,
  tooltip: string,
];

/** A box: a node (with `i`, its number) or a group (with `g`, and the range of its nodes). `joins` lists the groups
 * that a node joins, of an eager call or of fused nodes, each with its first frame. `mix` has the classes of a group's
 * ops, each with its number of ops. */
export interface ItemData {
  id: string;
  part: number;
  x: number;
  y: number;
  w: number;
  h: number;
  cls: string;
  label: string;
  detail?: string;
  f?: [number, number][];
  v?: (number | null)[];
  i?: number;
  links?: string[];
  chips?: string[];
  tip?: string;
  thin?: boolean;
  versions?: NodeVersion[];
  joins?: [number, string][];
  g?: number;
  from?: number;
  to?: number;
  kind?: string;
  count?: number;
  facts?: [string, string][];
  badge?: string;
  mix?: [string, number][];
}

/** An edge between two items of its level. `ends` are the pairs of connected nodes, `points` are the points of its
 * curve. */
export interface EdgeData {
  s: number;
  t: number;
  points: number[];
  label?: string;
  bytes?: number;
  n?: number;
  ends?: [number, number][];
  f?: [number, number][];
  refused?: boolean;
}

/** The direct members of a group; `parts` are the widths and heights of the layout's parts. */
export interface LevelData {
  id: number;
  note: string;
  parts: [number, number][];
  items: ItemData[];
  edges: EdgeData[];
}

/** The size of a graph; a caption says it in other words. */
export interface SizeData {
  nodes: number;
  edges: number;
  groups: number;
  caption?: string;
}

/** A value of an overlay, with its colours on light and on dark background. */
export interface CategoryData {
  name: string;
  light: string;
  dark: string;
}

/** A colouring of the graph; `range` is the minimum and maximum of a numeric overlay, empty if unknown. */
export interface OverlayData {
  name: string;
  title: string;
  kind: "category" | "number";
  unit: string;
  categories: CategoryData[];
  range: number[];
  note: string;
}

/** Pixel sizes for the layout of boxes. */
export interface MetricsData {
  labelChar: number;
  smallChar: number;
  chipChar: number;
  padX: number;
  padY: number;
  label: number;
  detail: number;
  chips: number;
  chipPad: number;
  chipGap: number;
  foldSign: number;
}

/** An amount in a frame, with its part of the largest in the film. */
export interface AmountData {
  name: string;
  text: string;
  share: number;
}

/** A frame of a film, with the nodes that it changed; `missing` if it was not recorded. `joined` are the nodes that a
 * fusion of this frame puts into another group, `touched` those of its other loops. */
export interface FrameData {
  title: string;
  detail: string;
  added: number[];
  removed: number[];
  rewritten: number[];
  amounts?: AmountData[];
  missing?: boolean;
  joined?: number[];
  touched?: number[];
}

/** Groups that are the greatest of a graph: in what, number and names, the amount, and their ids. */
export interface LargestData {
  name: string;
  badge: string;
  text: string;
  value: string;
  ids: string[];
}

/** The graph view's main message, without PlaceData; `classes` are the labels of op classes. */
export interface GraphData {
  digest: string;
  root: LevelData;
  opened: Record<string, LevelData>;
  size: SizeData;
  overlays: OverlayData[];
  classes: Record<string, string>;
  metrics: MetricsData;
  frames: FrameData[];
  largest: LargestData[];
}

/** Settings of a graph view: its key, height, channel and step, and its initial overlay and frame. Without `frame`, a
 * film starts with its last frame. */
export interface PlaceData {
  source: string;
  height: number;
  channel: string;
  step: string;
  overlay: string;
  frame: number | null;
}

/** A selection requested by Python; `serial` is the number of the user's choices before it. `outlined` are the ids of
 * items that are outlined, and `tie` the words on the line between two of them. */
export interface CommandData {
  source: string;
  id: string | null;
  serial: number;
  frame: number | null;
  outlined: string[];
  tie: string;
}

/** The response of the routes `levels` and `all`: levels by group. */
export interface LevelsData {
  levels: Record<string, LevelData>;
}

/** A match of the search, with the groups around it and their names. */
export interface HitData {
  id: string;
  label: string;
  detail: string;
  path: number[];
  where: string;
  i: number;
}

/** The response of the route `search`: the first matches, and the total number. */
export interface HitsData {
  total: number;
  hits: HitData[];
}

/** The response of the route `find`: the groups around an item. */
export interface FoundData {
  path: number[];
  i: number;
}

/** The response of the route `part`: a part of the graph. */
export interface PartData {
  level: LevelData;
  title: string;
}

/** An error response: a message, or `lost` if the server has dropped the graph. */
export interface ProblemData {
  lost?: boolean;
  error?: string;
}

/** A piece of a line, with the short class of its colour. */
export type Piece = [
  kind: string,
  text: string,
];

/** A line as a list, which keeps messages with 10,000 lines small. The last `cut` characters of its text are not sent.
 */
export type LineData = [
  number: number,
  id: string,
  runs: Piece[],
  links: string[],
  colours: string[],
  mark: "" | "break" | "info" | "ok",
  note: string,
  tooltip: string,
  cut: number,
];

/** The message to the browser; `stamp` changes with the title and the lines. */
export interface CodeData {
  title: string;
  lines: LineData[];
  stamp: string;
  height: number;
  initial: string | null;
  source: string;
  channel: string;
}

/** The message to the browser: the server's text, and the editor's smallest and largest height in px. */
export interface EditorData {
  key: string;
  label: string;
  text: string;
  least: number;
  most: number;
}

/** A phase; `kind` selects its colour, and `depth` is the number of enclosing phases. `is_open` is True until the phase
 * ends. */
export type SpanData = [
  name: string,
  kind: string,
  depth: number,
  begin_s: number,
  duration_s: number,
  is_open: boolean,
];

/** The message to the browser; a phase kind has a colour on light and on dark background, and a label. */
export interface ProgressData {
  steps: string[];
  to_come: string[];
  live: boolean;
  spans: SpanData[];
  length_s: number;
  colours: Record<string, [string, string]>;
  legend: Record<string, string>;
}

/** A span of time; all times are whole microseconds, `begin_us` since the chart's first span. `name` and `owner` are
 * indexes of the chart's names and owners. `own_us` is the self time. `thread` is 0 for the thread whose spans nest. */
export type FlameSpan = [
  id: string,
  name: number,
  owner: number,
  begin_us: number,
  length_us: number,
  own_us: number,
  row: number,
  thread: number,
];

/** The name of one or more spans; `kind` selects the colour of these spans. A span shows the links that are both in its
 * name's `links` and in its owner's `links`. */
export interface FlameName {
  text: string;
  kind: string;
  links: string[];
}

/** The owner of spans: its id, title and total seconds, and the names of its available links. */
export interface FlameOwner {
  id: string;
  title: string;
  whole_s: number;
  links: string[];
}

/** A kind's colour on light and on dark background, and its label. */
export interface FlameLegend {
  light: string;
  dark: string;
  label: string;
}

/** The message to the browser: the chart's data, and its initial selection of a span and an area. `areas` is True if
 * areas can be selected. */
export interface FlameData {
  noun: string;
  spans: FlameSpan[];
  names: FlameName[];
  owners: FlameOwner[];
  rows: number;
  threads: number;
  length_us: number;
  legend: Record<string, FlameLegend>;
  links: Record<string, string>;
  initial: string | null;
  area: [number, number, number, number] | null;
  areas: boolean;
}

/** A fact in the header: a value in the code font, its label, and its page; no link if `page` is empty. With `closes`,
 * the name of its close button, the chip has such a button, and a click picks `CLOSED`. A chip that `copies` is a
 * button that copies the address of the page. */
export interface Chip {
  value: string;
  label: string;
  tone: "" | "ok" | "warn" | "bad" | "live" | "quiet";
  page: string;
  tooltip: string;
  closes: string;
  copies: boolean;
}

/** The message to the browser: chips in a row. */
export interface ChipsData {
  chips: Chip[];
  kind: "chips";
}

/** The message to the browser: ids of commented items and of pinned items, number of open threads. `open` is True if
 * the comments are shown, so that the browser reports each selection. */
export interface CommentsData {
  commented: string[];
  pinned: string[];
  count: number;
  open: boolean;
}

/** A step of the picture: its title, its call or object as text, and a count from the run. */
export interface StationData {
  name: string;
  handed: string;
  told: string;
  bad: boolean;
}

/** A line of the picture: one compilation. `cells` are the texts below the first four steps. `marks` has one letter per
 * call, `said` has a tooltip for each letter. `ran` is the number of executions as text. */
export interface GivenData {
  id: string;
  cells: [string, string, string, string];
  failed: boolean;
  marks: string;
  said: string[];
  ran: string;
}

/** The message to the browser: steps, compilations, the chosen one, and texts. `once` and `always` describe when the
 * steps happen; `legend` explains each letter. */
export interface ContractData {
  stations: StationData[];
  once: string;
  always: string;
  rows: GivenData[];
  legend: Record<string, string>;
  chosen: string;
}

/** The message to the browser: keys, named as in the browser's key events. */
export interface KeysData {
  keys: string[];
}

/** A compilation in the tree of its frame, `depth` levels below the first. `because` is the failed guard without its
 * values: `old` is the value that it expected, `new` the value that it got. `took` is the compile time. `calls` has one
 * letter per call: compiled, failed, used, unknown, or a space. */
export interface RecompileRow {
  id: string;
  depth: number;
  failed: boolean;
  because: string;
  old: string;
  new: string;
  call: string;
  took: string;
  calls: string;
}

/** The message to the browser: a frame's name, a text about all its compilations, and the compilations. `calls` are the
 * inputs of each call as text. `legend` names each letter of `RecompileRow.calls`; those in `explained` are listed
 * below the tree. */
export interface LineageData {
  name: string;
  told: string;
  rows: RecompileRow[];
  calls: string[];
  legend: Record<string, string>;
  explained: string;
  chosen: string;
  kind: "lineage";
}

/** An entry of the palette; the browser searches its label first, then its detail. */
export type PaletteEntry = [
  id: string,
  label: string,
  detail: string,
];

/** A link to a page; `name` is its last query parameter, whose value is the id of the chosen entry. An empty `page` is
 * the current page. */
export interface PaletteAim {
  page: string;
  name: string;
  query: Record<string, string>;
}

/** Entries of one kind that open in the same way; `detail` is the common part of their details. Without `aim`, the
 * entries are actions. `left_out` counts the entries of this kind that are not sent. */
export interface PaletteGroup {
  kind: string;
  title: string;
  entries: PaletteEntry[];
  aim: PaletteAim | null;
  detail: string;
  left_out: number;
}

/** The message to the browser; `with_run` are the actions that need a second run, each with its link. `run` is the
 * shown run, empty without one; the browser may request its entries. */
export interface PaletteData {
  run: string;
  groups: PaletteGroup[];
  with_run: Record<string, PaletteAim>;
}

/** The message to the browser with the entries of a run; empty until they are requested. */
export interface RunEntriesData {
  run: string;
  groups: PaletteGroup[];
}

/** The count beside the title of a menu entry, and the reason why the entry is grey; each may be empty. */
export interface Mark {
  count: string;
  reason: string;
}

/** The message to the browser, with page names as in URLs. `entries` maps a page to the first page of its menu entry;
 * the first pages themselves are left out. */
export interface MenuData {
  marks: Record<string, Mark>;
  entries: Record<string, string>;
}

/** A graph of the row: its id, its op count as text, and its tooltip. */
export interface Stop {
  id: string;
  count: string;
  tooltip: string;
}

/** Graphs that belong together, such as the graphs before and after some passes. A new `lane` starts a new row. */
export interface Stretch {
  label: string;
  stops: Stop[];
  lane: boolean;
}

/** The message to the browser: the graphs by stretch, and the selected one. */
export interface StagesData {
  stretches: Stretch[];
  chosen: string;
  kind: "stages";
}

/** The message to the browser: the largest size of a file, in bytes and as text, and the prompt. `profile_of` is the
 * run to which a profile is added; empty for an upload that makes a run. */
export interface UploadData {
  most: number;
  words: string;
  asks: string;
  profile_of: string;
}

/** A step in the picture: the function called there, a number with unit, and a line on the result. */
export interface WayStage {
  id: string;
  title: string;
  call: string;
  state: "done" | "failed" | "not reached";
  figure: string;
  told: string;
}

/** The message to the browser: the boxes by column, from top to bottom. */
export interface WayData {
  columns: WayStage[][];
  chosen: string;
  kind: "way";
}
