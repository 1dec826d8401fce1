// What the components tell each other in the browser; what they are told by the server is in wire.d.ts.
import type { CommandData, RunEntriesData } from "./wire.d.ts";

export type Setter = (name: string, value: unknown) => void;

/** What Streamlit calls a component with. */
export interface Arguments<Data> {
  data: Data;
  parentElement: HTMLElement;
  setStateValue: Setter;
  setTriggerValue: Setter;
}

export type Pick = (id: string) => void;

/** Drawn boxes; `mounted` is called once they are in the page, and may return what ends them. */
export interface Drawn {
  root: HTMLElement;
  mounted?: (parent: HTMLElement, isFocused: boolean) => (() => void) | void;
}

/** A view among those of its channel. */
export interface Speaker {
  channel: string;
  source: string;
}

/** What another view says of its selection. */
export interface Told {
  id: string | null;
  links: string[];
  /** True for a selection that a page begins with: nobody has clicked. */
  initial?: boolean;
}

export type Saying = Speaker & Told;

/** What a view in step says of its camera: its scale, and how far from its middle the nearest items stand. */
export interface Moved {
  k: number;
  near: (Told & { dx: number; dy: number })[];
  gliding: boolean;
}

/** What a view in step says that it unfolded or folded. */
export interface Folded {
  ids: string[];
  open: boolean;
}

export type Stepping = Moved | Folded;

/** Whoever presents asks for the next step, or the one before; a film that has one takes it. */
export interface Turn {
  by: number;
  taken: boolean;
}

/** The items that have open comments, and those that are pinned, by their ids. */
export interface Commented {
  commented: string[];
  pinned: string[];
}

/** What is said on the bus, by the name of its event. */
export interface Bus {
  turn: Turn;
  select: Saying;
  hover: Saying;
  ask: Speaker;
  comments: Commented;
  command: CommandData;
  want: string;
  entries: RunEntriesData;
  camera: Speaker & { step: string } & Stepping;
}
