// The types of codemirror.min.js, as far as the editor needs them.
export type Extension = { extension: Extension } | readonly Extension[];

export interface Text {
  readonly lines: number;
  readonly length: number;
  eq(other: Text): boolean;
  toString(): string;
}

export interface ViewUpdate {
  readonly docChanged: boolean;
}

interface Facet<Input> {
  of(value: Input): Extension;
}

export class EditorView {
  static readonly contentAttributes: Facet<Record<string, string>>;
  static readonly updateListener: Facet<(update: ViewUpdate) => void>;
  static domEventHandlers(
    handlers: { [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => boolean | void },
  ): Extension;
  readonly state: { readonly doc: Text };
  constructor(config: { doc: string; parent: Element; root: Document | ShadowRoot; extensions: Extension });
  dispatch(transaction: { changes: { from: number; to: number; insert: string } }): void;
  destroy(): void;
}

export const python: Extension;
