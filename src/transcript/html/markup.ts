import { visible } from '../visible.ts'

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** HTML source that is known to be safe. It is made in this file only; everything else that goes into a page is text. */
class Html {
  /** So that an object of the same shape is none, for the compiler. */
  declare protected readonly isSafe: true
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
}
export type { Html }

type Value = string | number | Html | readonly Html[]

const sourceOf = (value: Value): string => {
  if (value instanceof Html) return value.source
  if (typeof value === 'object') return value.map(sourceOf).join('')
  return visible(String(value)).replace(/[&<>"']/g, (character) => ESCAPES[character]!)
}

/**
 * A template of HTML: what stands in it is source, and every text that is put into it is escaped. Attributes with texts in them
 * have to be in double quotes.
 */
export const markup = (source: TemplateStringsArray, ...values: readonly Value[]): Html =>
  new Html(source.reduce((all, piece, i) => `${all}${sourceOf(values[i - 1]!)}${piece}`))

/** A part of a style sheet, as it stands in the lines of the template. */
export const css = (source: TemplateStringsArray): Html => new Html(source[0]!.replace('\n', ''))

export const none = markup``
