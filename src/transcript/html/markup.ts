import { visible } from '../visible.ts'

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** HTML source that is known to be safe. Only this file makes it; all other content of a page is text. */
class Html {
  /** So that for the compiler no other object of this shape is `Html`. */
  declare protected readonly isSafe: true
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
}
export type { Html }

/** Any character that is escaped or replaced. A text without one, as most are, is returned unchanged. */
const SPECIAL = /[^\n\t !#-%(-;=?-~]/

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!)

type Value = string | number | Html | readonly Html[]

const textSource = (text: string): string => (SPECIAL.test(text) ? escaped(visible(text)) : text)

const sourceOf = (value: Value): string => {
  if (typeof value !== 'object') return textSource(String(value))
  return value instanceof Html ? value.source : value.map(sourceOf).join('')
}

/** A template of HTML: the template is source, and every text that is put into it is escaped. Attributes with texts need double quotes. */
export const markup = (source: TemplateStringsArray, ...values: readonly Value[]): Html => {
  let all = source[0]!
  for (let i = 0; i < values.length; i++) all += sourceOf(values[i]!) + source[i + 1]!
  return new Html(all)
}

/** Characters that HTML cannot hold: control characters other than tab and line breaks, lone surrogates, and noncharacters. */
const IMPOSSIBLE = /[^\P{Cc}\t\n\r]|[\p{Cs}\p{Noncharacter_Code_Point}]/gu

/**
 * A text as the value of a field of a form: exactly, as far as HTML can hold it, because what is shown as a mark elsewhere would be
 * sent back as that mark.
 */
export const exactly = (text: string): Html => new Html(escaped(text.replace(IMPOSSIBLE, visible)))

/** A part of a style sheet: the template without its first line break. */
export const css = (source: TemplateStringsArray): Html => new Html(source[0]!.replace('\n', ''))

export const none = markup``
