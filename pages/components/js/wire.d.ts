// Written by `make docs` from the structs of pages/components: what the browser is told.

/** A row of a node. `joins`: from which frame on it belongs to which group of rows. */
export interface RowData {
  id: string;
  label: string;
  cls: string;
  links?: string[];
  detail?: string;
  joins?: [number, string][];
}

/** What a node is from a frame of the film on, where that is not the same in all of them. */
export type Version = [
  frame: number,
  label: string,
  detail: string,
  tooltip: string,
];

/** A box: a node (with `i`, its number) or a group (with `g`, and the range of nodes that it holds). */
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
  colour?: string;
  links?: string[];
  rows?: RowData[];
  chips?: string[];
  tip?: string;
  thin?: boolean;
  versions?: Version[];
  g?: number;
  from?: number;
  to?: number;
  kind?: string;
  count?: number;
  facts?: [string, string][];
}

/** An edge between two items of its level; `ends` are the nodes that it is about, `points` those of its curve. */
export interface EdgeData {
  s: number;
  t: number;
  points: number[];
  label?: string;
  bytes?: number;
  n?: number;
  ends?: [number, number][];
  f?: [number, number][];
}

/** What lies directly in a group, in `parts` of a width and a height. */
export interface LevelData {
  id: number;
  note: string;
  parts: [number, number][];
  items: ItemData[];
  edges: EdgeData[];
}

/** How much there is in a graph. */
export interface SizeData {
  nodes: number;
  edges: number;
  groups: number;
}

/** A value of an overlay, with its colours on light and on dark paper. */
export interface CategoryData {
  name: string;
  light: string;
  dark: string;
}

/** What colours may say; `range` is the least and the most of a number's values, if any are known. */
export interface OverlayData {
  name: string;
  title: string;
  kind: "category" | "number";
  unit: string;
  categories: CategoryData[];
  range: number[];
  note: string;
}

/** Pixels of which boxes are laid out. */
export interface MetricsData {
  labelChar: number;
  smallChar: number;
  chipChar: number;
  padX: number;
  padY: number;
  label: number;
  detail: number;
  row: number;
  chips: number;
  rowInset: number;
  rowText: number;
  chipPad: number;
  chipGap: number;
  foldSign: number;
}

/** A frame of a film, with the nodes that it changed. */
export interface FrameData {
  title: string;
  detail: string;
  added: number[];
  removed: number[];
  rewritten: number[];
}

/** The other graph, and what both are called. */
export interface MorphData {
  digest: string;
  root: LevelData;
  opened: Record<string, LevelData>;
  size: SizeData;
  overlays: OverlayData[];
  labels: [string, string];
}

/** The graph view's message, but for its place; `classes` are the words for classes of ops. */
export interface GraphData {
  digest: string;
  root: LevelData;
  opened: Record<string, LevelData>;
  size: SizeData;
  overlays: OverlayData[];
  classes: Record<string, string>;
  metrics: MetricsData;
  frames: FrameData[];
  morph: MorphData | null;
}

/** The rest of it: a view's own name among those of its channel, pixels, and what it starts with; a film starts with
 * its last frame if none is told. */
export interface PlaceData {
  source: string;
  height: number;
  channel: string;
  step: string;
  overlay: string;
  frame: number | null;
}

/** What Python wants selected in a view, written after that many choices of the user. */
export interface CommandData {
  source: string;
  id: string | null;
  serial: number;
  frame: number | null;
}

/** The answer of the routes `levels` and `all`: levels by their groups. */
export interface LevelsData {
  levels: Record<string, LevelData>;
}

/** An item that a search found, with the groups around it and their names. */
export interface HitData {
  id: string;
  label: string;
  detail: string;
  path: number[];
  where: string;
  i: number;
}

/** The answer of the route `search`: the first hits, and how many there are. */
export interface HitsData {
  total: number;
  hits: HitData[];
}

/** The answer of the route `find`: the groups around an item. */
export interface FoundData {
  path: number[];
  i: number;
}

/** The answer of the route `part`. */
export interface PartData {
  level: LevelData;
  title: string;
}

/** An answer that is none: the server has `lost` the graph, or what is wrong in words. */
export interface ProblemData {
  lost?: boolean;
  error?: string;
}

/** A piece of a line, with the short class of its colour. */
export type Piece = [
  kind: string,
  text: string,
];

/** A line as a list, since there may be ten thousand; the last `cut` characters of its text are not sent. */
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

/** The message to the browser: the text at first, and between which heights in pixels the editor grows with it. */
export interface EditorData {
  label: string;
  text: string;
  least: number;
  most: number;
}

/** A phase: its colours' name is `kind`, `depth` counts the phases around it, `is_open` if it has not ended. */
export type SpanData = [
  name: string,
  kind: string,
  depth: number,
  begin_s: number,
  duration_s: number,
  is_open: boolean,
];

/** The message to the browser; a phase's kind has a colour on light and one on dark paper, and a word. */
export interface ProgressData {
  steps: string[];
  to_come: string[];
  live: boolean;
  spans: SpanData[];
  length_s: number;
  colours: Record<string, [string, string]>;
  legend: Record<string, string>;
}

/** A span: `name` and `owner` number those of the chart, times are whole microseconds since its first span. `own_us` is
 * what is the span's alone; `thread` is 0 for the one whose spans nest. */
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

/** A name that spans have: its colours' name is `kind`, and `links` are what may be opened from it, where the owner has
 * that. */
export interface FlameName {
  text: string;
  kind: string;
  links: string[];
}

/** What spans belong to, how many seconds it has in all, and which links lead anywhere for it. */
export interface FlameOwner {
  id: string;
  title: string;
  whole_s: number;
  links: string[];
}

/** A kind's colour on light and on dark paper, and its word. */
export interface FlameLegend {
  light: string;
  dark: string;
  label: string;
}

/** The message to the browser: what is drawn, and the span that is selected when the chart appears. */
export interface FlameData {
  spans: FlameSpan[];
  names: FlameName[];
  owners: FlameOwner[];
  rows: number;
  threads: number;
  length_us: number;
  legend: Record<string, FlameLegend>;
  links: Record<string, string>;
  initial: string | null;
}

/** One fact: a value in the code font, a word for it, and the page that shows more; without `page` it is no link. */
export interface Chip {
  value: string;
  label: string;
  tone: "" | "ok" | "warn" | "bad" | "live" | "quiet";
  page: string;
  tooltip: string;
}

/** The message to the browser. */
export interface ChipsData {
  chips: Chip[];
}

/** A station: what it is, what is handed over there as one would write it, and this run's number for it. */
export interface StationData {
  name: string;
  handed: string;
  told: string;
  bad: boolean;
}

/** A line: a compilation by its id, with what stands below each of the first four stations; the marks of the calls, a
 * letter each, with what is said of each of them; and its executions in words. */
export interface GivenData {
  id: string;
  cells: [string, string, string, string];
  failed: boolean;
  marks: string;
  said: string[];
  ran: string;
}

/** The message to the browser; `once` and `always` say when the stations are passed, `legend` has a word for each
 * letter. */
export interface ContractData {
  stations: StationData[];
  once: string;
  always: string;
  rows: GivenData[];
  legend: Record<string, string>;
  chosen: string;
}

/** The message to the browser: keys as its events name them. */
export interface KeysData {
  keys: string[];
}

/** A line: a compilation `depth` below its frame's first, the guard that failed, what was expected and what came, the
 * call, what it took in words, and a letter for each call: compiled, failed, used, unknown, or a space. */
export interface CompilationData {
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

/** The message to the browser: a frame by name, with what is said of all its compilations, and those. `calls` are the
 * inputs of each call in words, `legend` a word for each letter, of which the `explained` ones are drawn below. */
export interface LineageData {
  name: string;
  told: string;
  rows: CompilationData[];
  calls: string[];
  legend: Record<string, string>;
  explained: string;
  chosen: string;
}

/** One graph: its id, a number for it, and what to say of it. */
export interface Stop {
  id: string;
  count: string;
  tooltip: string;
}

/** Graphs that belong together, such as the one before some passes and the one after them; `lane` is where the row
 * begins anew. */
export interface Stretch {
  label: string;
  stops: Stop[];
  lane: boolean;
}

/** The message to the browser. */
export interface StagesData {
  stretches: Stretch[];
  chosen: string;
}

/** The message to the browser: how large a file may be, in bytes and in words. */
export interface UploadData {
  most: number;
  words: string;
}

/** One box: what is called there, a figure, and a line of what came of it. */
export interface WayStage {
  id: string;
  title: string;
  call: string;
  state: "done" | "failed" | "not reached";
  figure: string;
  told: string;
}

/** The message to the browser: the boxes column by column, those of a column one above the other. */
export interface WayData {
  columns: WayStage[][];
  chosen: string;
}
