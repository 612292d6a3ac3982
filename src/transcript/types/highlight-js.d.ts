/** The few types of highlight.js that are used: its own types would bring those of a browser into the whole program. */

export type Language = (highlighter: unknown) => unknown

/** Receives the pieces of highlighted code. */
export type Emitter = {
  startScope(name: string): void
  endScope(): void
  openNode(name: string): void
  closeNode(): void
  addText(text: string): void
  __addSublanguage(emitter: Emitter, name: string): void
  finalize(): void
  toHTML(): string
}

type Highlighter = {
  newInstance(): Highlighter
  registerLanguage(name: string, language: Language): void
  getLanguage(name: string): unknown
  configure(options: { readonly __emitter: new () => Emitter }): void
  highlight(
    code: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ): { readonly _emitter: Emitter }
}

declare const highlighter: Highlighter
export default highlighter
