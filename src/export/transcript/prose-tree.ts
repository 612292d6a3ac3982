/** Markdown that somebody wrote, as a tree without any markup of its own. Addresses are text, never something to follow. */
export type Inline =
  | { readonly is: 'text' | 'code'; readonly text: string }
  | { readonly is: 'strong' | 'emphasis' | 'struck'; readonly content: readonly Inline[] }
  /** A link or a picture: what it says, and its address. */
  | { readonly is: 'link' | 'image'; readonly content: readonly Inline[]; readonly address: string }
  | { readonly is: 'break' | 'space' }

export type Prose =
  | { readonly is: 'paragraph'; readonly content: readonly Inline[] }
  /** `level` from 1 to 6. */
  | { readonly is: 'heading'; readonly level: number; readonly content: readonly Inline[] }
  | { readonly is: 'code'; readonly language: string; readonly text: string }
  | { readonly is: 'quote'; readonly content: readonly Prose[] }
  | {
      readonly is: 'list'
      /** Undefined for a list with bullets. */
      readonly start: number | undefined
      readonly isTight: boolean
      readonly items: readonly (readonly Prose[])[]
    }
  | { readonly is: 'table'; readonly rows: readonly (readonly (readonly Inline[])[])[] }
  | { readonly is: 'rule' }
  /** Text that was not read as Markdown, because it is too long or nested too deeply. */
  | { readonly is: 'plain'; readonly text: string }

/** The text of inline content, without markup. */
export const plainText = (content: readonly Inline[]): string =>
  content
    .map((inline) => {
      if (inline.is === 'text' || inline.is === 'code') return inline.text
      return 'content' in inline ? plainText(inline.content) : ' '
    })
    .join('')
