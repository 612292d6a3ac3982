import MarkdownIt, { type StateBlock, type Token } from 'markdown-it'
import { prosePieces } from './prose-pieces.ts'
import { visible } from './visible.ts'

/** Markdown content as a tree, without any markup. Addresses are text. */
export type Inline =
  | { readonly is: 'text' | 'code'; readonly text: string }
  | { readonly is: 'strong' | 'emphasis' | 'struck'; readonly content: readonly Inline[] }
  /** A link or a picture: its text, and its address. */
  | {
      readonly is: 'link' | 'image'
      readonly content: readonly Inline[]
      /** With its title, as text. */
      readonly address: string
      readonly href: string
    }
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
  /** Text that was not parsed as Markdown, because it is too long or nested too deeply. */
  | { readonly is: 'plain'; readonly text: string }

/** The text of inline content, without markup. */
export const plainText = (content: readonly Inline[]): string =>
  content
    .map((inline) => {
      if (inline.is === 'text' || inline.is === 'code') return inline.text
      return 'content' in inline ? plainText(inline.content) : ' '
    })
    .join('')

const BOX = /^\[([ xX])\]\s+/

/** An item of a list of tasks, without the box that it begins with, such as `[x] `. */
export const withoutBox = (
  item: readonly Prose[],
): { readonly box?: 'done' | 'open'; readonly content: readonly Prose[] } => {
  const [first, ...others] = item
  const [text, ...rest] = first?.is === 'paragraph' ? first.content : []
  const found = text?.is === 'text' ? BOX.exec(text.text) : null
  if (!found || text?.is !== 'text') return { content: item }
  const words: Inline = { is: 'text', text: text.text.slice(found[0].length) }
  const paragraph: Prose = { is: 'paragraph', content: words.text === '' ? rest : [words, ...rest] }
  return { box: found[1] === ' ' ? 'open' : 'done', content: [paragraph, ...others] }
}

/** With more levels of quotes, lists and emphasis text is not parsed as Markdown: markdown-it would drop it. */
const MOST_LEVELS = 16

/** How many missing cells a table may be given, if that is more than one for every two of its characters. */
const MOST_CELLS = 200

/** Pictures in pictures take quadratic time. */
const MOST_PICTURES = 1_000

/** Text that is not parsed as Markdown, because a little of it would become very much. */
class NotParsed extends Error {
  override readonly name = 'NotParsed'
}

const DELIMITERS = /^[-:|\s]+$/

const count = (text: string, sign: string) => text.split(sign).length - 1

/** Whether a table begins at line `first` that would have far more cells than there are in its rows. */
const hasTooManyCells = (state: StateBlock, first: number, end: number): boolean => {
  const { src, bMarks, tShift, eMarks } = state
  const lineAt = (line: number) => src.slice(bMarks[line]! + tShift[line]!, eMarks[line])
  if (first + 1 >= end || !DELIMITERS.test(lineAt(first + 1))) return false
  let last = first + 1
  while (last + 1 < end && !state.isEmpty(last + 1)) last += 1
  const signs = Math.min(count(lineAt(first), '|'), count(lineAt(first + 1), '|'))
  return signs * (last - first) > Math.max(MOST_CELLS, (eMarks[last]! - bMarks[first]!) / 2)
}

/**
 * Only its tokens are used, not its HTML. Definitions of references stay text, because they would be lost otherwise. What is in a
 * block is parsed by `parseInline`, so that a long text takes more than one step.
 */
const newParser = () => {
  const parser = new MarkdownIt({
    html: false,
    linkify: false,
    typographer: false,
    maxNesting: 2 * MOST_LEVELS,
  })
  parser.disable('reference')
  parser.validateLink = () => true
  parser.normalizeLink = (address) => address
  parser.normalizeLinkText = (text) => text
  parser.block.ruler.before('table', 'too-deep', (state) => {
    if (state.level > MOST_LEVELS) throw new NotParsed('nested too deeply')
    return false
  })
  parser.block.ruler.before('table', 'too-many-cells', (state, first, end) => {
    if (hasTooManyCells(state, first, end)) throw new NotParsed('a table with too many cells')
    return false
  })
  return parser
}

const parser = newParser()
const blockParser = newParser()
blockParser.core.ruler.disable(['inline', 'text_join'])

/** Reads tokens one after the other. `keepsLines`: whether single line ends are kept. */
type Cursor = { readonly tokens: readonly Token[]; next: number; readonly keepsLines: boolean }

const address = (token: Token, name: string) => {
  const title = token.attrGet('title')
  const href = String(token.attrGet(name) ?? '')
  return { address: `${href}${title ? ` "${title}"` : ''}`, href }
}

const marks: Readonly<Record<string, 'strong' | 'emphasis' | 'struck'>> = {
  strong_open: 'strong',
  em_open: 'emphasis',
  s_open: 'struck',
}

const inlineOf = (token: Token, cursor: Cursor): Inline => {
  const mark = marks[token.type]
  if (mark) return { is: mark, content: inlines(cursor) }
  switch (token.type) {
    case 'link_open':
      return { is: 'link', ...address(token, 'href'), content: inlines(cursor) }
    case 'image':
      return { is: 'image', ...address(token, 'src'), content: inlinesOf(token, cursor) }
    case 'code_inline':
      return { is: 'code', text: token.content }
    case 'hardbreak':
      return { is: 'break' }
    case 'softbreak':
      return { is: cursor.keepsLines ? 'break' : 'space' }
    default:
      return { is: 'text', text: token.content }
  }
}

/** Inline content up to the end of its parent. */
const inlines = (cursor: Cursor): Inline[] => {
  const content: Inline[] = []
  while (cursor.next < cursor.tokens.length) {
    const token = cursor.tokens[cursor.next++]!
    if (token.nesting < 0) break
    if (token.content !== '' || token.type !== 'text') content.push(inlineOf(token, cursor))
  }
  return content
}

const inlinesOf = (token: Token | undefined, { keepsLines }: Cursor): Inline[] =>
  inlines({ tokens: token?.children ?? [], next: 0, keepsLines })

const listOf = (token: Token, cursor: Cursor): Prose => {
  const items: Prose[][] = []
  const first = cursor.next
  while (cursor.tokens[cursor.next]?.type === 'list_item_open') {
    cursor.next += 1
    items.push(blocks(cursor))
  }
  const paragraph = cursor.tokens.slice(first, cursor.next).find(({ type }) => type === 'paragraph_open')
  cursor.next += 1
  const start = token.type === 'ordered_list_open' ? Number(token.attrGet('start') ?? 1) : undefined
  return { is: 'list', start, isTight: paragraph?.hidden ?? true, items }
}

const tableOf = (cursor: Cursor): Prose => {
  const rows: Inline[][][] = []
  for (;;) {
    const token = cursor.tokens[cursor.next++]!
    if (token.type === 'table_close') return { is: 'table', rows }
    if (token.type === 'tr_open') rows.push([])
    if (token.type === 'inline') rows.at(-1)!.push(inlinesOf(token, cursor))
  }
}

const textOf = (cursor: Cursor): Inline[] => {
  const token = cursor.tokens[cursor.next]
  cursor.next += 2 // the inline token, and the end of the block
  return inlinesOf(token, cursor)
}

const proseOf = (token: Token, cursor: Cursor): Prose => {
  switch (token.type) {
    case 'heading_open':
      return { is: 'heading', level: Number(token.tag.slice(1)), content: textOf(cursor) }
    case 'blockquote_open':
      return { is: 'quote', content: blocks(cursor) }
    case 'bullet_list_open':
    case 'ordered_list_open':
      return listOf(token, cursor)
    case 'table_open':
      return tableOf(cursor)
    case 'fence':
    case 'code_block':
      return { is: 'code', language: token.info.trim(), text: token.content }
    case 'hr':
      return { is: 'rule' }
    default:
      return { is: 'paragraph', content: textOf(cursor) }
  }
}

/** Blocks up to the end of their parent. */
const blocks = (cursor: Cursor): Prose[] => {
  const content: Prose[] = []
  while (cursor.next < cursor.tokens.length) {
    const token = cursor.tokens[cursor.next++]!
    if (token.nesting < 0) break
    content.push(proseOf(token, cursor))
  }
  return content
}

/** The blocks of a text; undefined if it is not parsed as Markdown. */
const blockTokens = (text: string): Token[] | undefined => {
  if (count(text, '![') > MOST_PICTURES) return undefined
  try {
    return blockParser.parse(visible(text), {})
  } catch (error) {
    if (error instanceof NotParsed) return undefined
    throw error
  }
}

/** The characters of blocks that one step parses; each block counts as `BLOCK` more. */
const STEP = 4 * 1024
const BLOCK = 8

function* parse(text: string, keepsLines: boolean): Generator<Prose[], void> {
  const tokens = blockTokens(text)
  if (!tokens) return yield [{ is: 'plain', text }]
  let left = STEP
  for (const token of tokens) {
    if (token.type !== 'inline') continue
    if (left <= 0) {
      yield []
      left = STEP
    }
    token.children = parser.parseInline(token.content, {})[0]!.children
    left -= BLOCK + token.content.length
  }
  yield blocks({ tokens, next: 0, keepsLines })
}

/**
 * Parses Markdown, piece by piece, so that no step takes long; some steps yield nothing. `keepsLines` is for text in which single line
 * ends have a meaning, such as prompts.
 */
export function* readProse(text: string, { keepsLines }: { readonly keepsLines: boolean }): Generator<Prose[], void> {
  for (const piece of prosePieces(text)) {
    if (!piece) yield []
    else if (piece.is === 'plain') yield [piece as Prose]
    else yield* parse(piece.text, keepsLines)
  }
}
