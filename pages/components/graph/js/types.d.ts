// What the parts of the graph view hand to each other; what they are told by the server is in wire.d.ts.
import type { EdgeData, FrameData, ItemData, LevelData, OverlayData, SizeData } from "../../js/wire.d.ts";

/** Left, top, right, bottom, in coordinates of the picture. */
export type Rect = number[];

/** A box is a node, with its number, or a group, with the range of nodes that it holds. */
export type NodeItem = ItemData & { i: number; g?: undefined };
export type GroupItem = ItemData & { i?: undefined; g: number; from: number; to: number };
export type Item = NodeItem | GroupItem;

/** A level as it is laid out. */
export interface LaidOut extends LevelData {
  items: Item[];
  nodeAt?: Map<number, number>;
}

/** A level with its edges by their ends, and the place of each node in it. */
export interface Level extends LaidOut {
  nodeAt: Map<number, number>;
  in: number[][];
  out: number[][];
}

export type Levels = Map<number, LaidOut>;

/** A box of the picture. */
export interface Placed {
  item: Item;
  gid: number;
  index: number;
  depth: number;
  open: boolean;
  x: number;
  y: number;
  w: number;
  h: number;
  box: Rect;
}

/** A curve of the picture. */
export interface Line {
  edge: EdgeData;
  gid: number;
  index: number;
  s: Placed;
  t: Placed;
  points: number[];
  stubs: Stub[];
  box: Rect;
  of?: undefined;
}

/** Where a curve goes on inside an unfolded group: from its start (0) or to its end (1). */
export interface Stub {
  of: Line;
  side: number;
  inner: Placed;
  ends: [number, number][];
  points: number[];
  box: Rect;
  edge?: undefined;
}

export interface Picture {
  items: Placed[];
  edges: Line[];
  stubs: Stub[];
  open: Map<number, Placed>;
  levels: Map<number, Placed[]>;
  lines: Map<number, Line[]>;
  /** True if boxes or edges come and go during the film. */
  changes: boolean;
  width: number;
  height: number;
}

/** A box while levels are composed: as it was laid out, and as it becomes. */
export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
  X: number;
  Y: number;
  W: number;
  H: number;
}

export interface Curve {
  points: number[];
  source: Box;
  target: Box;
}

/** How much a range grows. */
export interface Growth {
  from: number;
  to: number;
  by: number;
}

/** A level with the unfolded levels inside it. */
export interface Composed {
  level: LaidOut;
  gid: number;
  boxes: Box[];
  inner: (Composed | null)[];
  curves: number[][];
  offsets: number[][];
  width: number;
  height: number;
}

/** Where an item stands in the levels of a graph. */
export interface Place {
  gid: number;
  index: number;
  item: Item;
  id: string;
  links: string[];
}

export interface Choice {
  id: string;
  links: string[];
  item: Item;
  label: string;
  detail?: string;
}

/** A hit of the server's search, or of ours. */
export interface Hit {
  id: string;
  label: string;
  detail?: string;
  path: number[];
  where?: string;
}

export interface Selecting {
  quiet?: boolean;
  reveal?: boolean;
  atOnce?: boolean;
  toMiddle?: boolean;
  low?: boolean;
  wait?: number;
}

/** The group of an item in the document; `step` is what it shows of the film's frame, `floor` its sheet of paper. */
export type ItemElement = SVGGElement & { placed: Placed; step?: string; floor?: SVGRectElement };

/** The words on a line between two launches; the middle of the line. */
export type TieElement = SVGGElement & { spots: number[][]; wide: number; high: number };

/** The colours of the style sheet for a canvas. */
export interface Inks {
  bg: string;
  ink: string;
  line: string;
  now: string;
  none: string;
  code: string;
  classes: Map<string, string>;
}

export interface Paints extends Inks {
  byClass: boolean;
  colourOf(item: Item): string;
}

/** Where items stand by id. */
export type Standing = Map<string, { x: number; y: number }>;

export interface Spot {
  x: number;
  y: number;
  k: number;
}

export interface Scale {
  low: number;
  high: number;
  log: boolean;
  share(value: number): number;
}

export type Intervals = [number, number][];

/** What an element's tag makes. */
export type Made<T extends string> = T extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[T]
  : T extends keyof SVGElementTagNameMap ? SVGElementTagNameMap[T]
  : HTMLElement;

/** What a graph is made of. */
export interface Content {
  digest: string;
  root: LevelData;
  opened?: Record<string, LevelData>;
  size: SizeData;
  overlays?: OverlayData[];
  frames?: FrameData[];
}
