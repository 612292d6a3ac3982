import { type Fence, fenceAfter, fenceOf } from './prose-pieces.ts'
import type { Prose } from './prose.ts'
import { slices } from './slices.ts'
import { isUnseen, withoutEnd } from './visible.ts'

/** A step ends after this many characters. Each line counts as `LINE` characters more. */
const STEP = 64 * 1024
const LINE = 32

/** What may follow a fence, so that no word is lost where the fence is not shown: nothing, or the name of a language. */
const LANGUAGE = /^[\w+#.-]{0,30}$/

/** A part of a text that somebody typed. */
export type Literal = Extract<Prose, { readonly text: string }>

type Open = Fence & { readonly at: number; readonly inside: number; readonly language: string | undefined }

/** The fence that a line opens. Its `language` is undefined if its block has to stay text, because more than a language is in the line. */
const opened = (line: string, at: number, inside: number): Open | undefined => {
  const fence = fenceOf(line)
  if (!fence) return undefined
  const said = line.slice(fence.length).replace(/^[ \t]+/, '')
  return { ...fence, at, inside, language: line.startsWith(fence.character) && LANGUAGE.test(said) ? said : undefined }
}

const withoutLineEnd = (text: string): string => (text.endsWith('\n') ? text.slice(0, -1) : text)

/** A text whose lines all end in a line feed. */
function* withLineFeeds(text: string): Generator<Literal[], string> {
  if (!text.includes('\r')) return text
  let whole = ''
  for (const slice of slices(text)) {
    whole += slice.replace(/\r\n?/g, '\n')
    yield []
  }
  return whole
}

/** What is typed, unless it is only white space, of which nothing can be seen. */
const plain = (text: string): Literal[] => (isUnseen(text) ? [] : [{ is: 'plain', text: withoutLineEnd(text) }])

/**
 * A text that somebody typed, piece by piece: fenced code that is closed becomes `code`, all the rest is `plain`, character by character.
 * Some steps yield nothing.
 */
export function* readLiteral(typed: string): Generator<Literal[], void> {
  const text = yield* withLineFeeds(typed)
  let left = STEP
  let start = 0
  let open: Open | undefined
  for (let at = 0; at < text.length;) {
    const next = text.indexOf('\n', at)
    const end = next < 0 ? text.length : next + 1
    const line = withoutEnd(text.slice(at, Math.min(end, at + STEP)))
    if (!open) open = opened(line, at, end)
    else if (!fenceAfter(line, open)) {
      const { language, inside } = open
      const code = text.slice(inside, at)
      if (language !== undefined && !isUnseen(code)) {
        yield plain(text.slice(start, open.at))
        yield [{ is: 'code', language, text: code }]
        start = end
      }
      open = undefined
    }
    left -= LINE + end - at
    at = end
    if (left > 0) continue
    yield []
    left = STEP
  }
  yield plain(text.slice(start))
}
