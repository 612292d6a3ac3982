import { type Inline, type Prose, plainText, withoutBox } from '../prose.ts'
import { codeSpan, escapeLine, escapeText, indentedLines, infoWord } from './safe.ts'

/** Lines of Markdown without line ends. */
type Lines = readonly string[]

/** Joins inline content. Text at the start of a line is escaped for that place. */
class Line {
  text = ''
  get #isStart() {
    return this.text === '' || this.text.endsWith('\n')
  }
  /** Text of content. */
  words(text: string) {
    this.text += this.#isStart ? escapeLine(text) : escapeText(text)
  }
  /** Markup of this file. Two runs of backticks must not become one. */
  markup(text: string) {
    this.text += this.text.endsWith('`') && text.startsWith('`') ? ` ${text}` : text
  }
  code(text: string) {
    const span = codeSpan(text)
    if (span.startsWith('`')) this.markup(span)
    else this.words(text)
  }
}

const marks = { strong: '**', emphasis: '*', struck: '~~' } as const

/** A mark next to white space is not valid, and would begin a list at the start of a line. */
const isMarkable = (content: readonly Inline[]): boolean => /^\S(?:[\s\S]*\S)?$/.test(plainText(content))

const writeAddress = (line: Line, said: string, address: string) => {
  if (address === '' || address === said) return
  line.markup(line.text === '' || line.text.endsWith('\n') ? '(' : ' (')
  line.code(address)
  line.markup(')')
}

const write = (line: Line, content: readonly Inline[], plain: ReadonlySet<string>): void => {
  for (const one of content) {
    switch (one.is) {
      case 'text':
        line.words(one.text)
        break
      case 'code':
        line.code(one.text)
        break
      case 'strong':
      case 'emphasis':
      case 'struck': {
        const mark = plain.has(one.is) || !isMarkable(one.content) ? '' : marks[one.is]
        line.markup(mark)
        write(line, one.content, plain)
        line.markup(mark)
        break
      }
      case 'link':
        write(line, one.content, plain)
        writeAddress(line, plainText(one.content), one.address)
        break
      case 'image':
        line.words(`[Picture: ${plainText(one.content)}]`)
        writeAddress(line, '', one.address)
        break
      case 'break':
        line.markup(plain.has('break') ? ' ' : '\\\n')
        break
      case 'space':
        line.markup(plain.has('break') ? ' ' : '\n')
    }
  }
}

const inlineLines = (content: readonly Inline[], plain: ReadonlySet<string> = new Set()): Lines => {
  const line = new Line()
  write(line, content, plain)
  return line.text.split('\n').map((one) => one.trimEnd())
}

/** Removes a backslash at the end of the last line, which would be shown. */
const paragraph = (content: readonly Inline[]): Lines => {
  const lines = inlineLines(content).filter((one) => one !== '' && one !== '\\')
  const last = lines.at(-1)
  return last === undefined || !/(?<!\\)(?:\\\\)*\\$/.test(last) ? lines : [...lines.slice(0, -1), last.slice(0, -1)]
}

/** The place of a block. Consecutive lists get different markers, so that they stay two lists. */
type Place = {
  readonly inQuote: boolean
  readonly isFirstOfItem: boolean
  readonly previous: Kind
  readonly depth: number
}
export type Kind = Prose['is'] | 'other'

const label = (text: string) => `*${text}:*`

/** Code is indented and not fenced, so that content cannot make a fence. It must not become a part of the block before it. */
const codeLines = (text: string, info: string, { inQuote, isFirstOfItem, previous }: Place): Lines => {
  if (text.trim() === '') return []
  const word = infoWord(info.split(/\s/, 1)[0] ?? '')
  const needsLabel = word !== '' || isFirstOfItem || ['list', 'code', 'table', 'plain'].includes(previous)
  const head = needsLabel ? [label(escapeText(word || 'Code')), ''] : []
  if (!inQuote) return [...head, ...indentedLines(text)]
  const lines = indentedLines(text).map((line) => codeSpan(line.slice(4)))
  return [
    ...head,
    ...lines.filter((line) => line !== '').map((line, i, all) => (i < all.length - 1 ? `${line}\\` : line)),
  ]
}

const WIDEST = 40

const tableText = (rows: readonly (readonly (readonly Inline[])[])[]): string => {
  const cells = rows.map((row) => row.map((cell) => plainText(cell).replace(/\s+/g, ' ')))
  const widths = (cells[0] ?? []).map((_, i) => Math.min(WIDEST, Math.max(...cells.map((row) => row[i]?.length ?? 0))))
  return cells
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

const boxes = { done: '[x] ', open: '[ ] ' } as const

const itemLines = (given: readonly Prose[], marker: string, isTight: boolean, place: Place): Lines => {
  const { box, content } = withoutBox(given)
  const mark = box === undefined ? '' : boxes[box]
  const lines = blockLines(
    content,
    { ...place, isFirstOfItem: true, previous: 'other', depth: place.depth + 1 },
    isTight,
  )
  const indent = ' '.repeat(marker.length + 1)
  if (lines.length === 0) return [marker]
  return lines.map((line, i) => (i === 0 ? `${marker} ${mark}${line}` : line === '' ? '' : `${indent}${line}`))
}

const markers = (start: number | undefined, isOther: boolean) => (i: number) =>
  start === undefined ? (isOther ? '+' : '*') : `${Math.min(start + i, 999_999_999)}${isOther ? ')' : '.'}`

const lines = (one: Prose, place: Place): Lines => {
  switch (one.is) {
    case 'paragraph':
      return paragraph(one.content)
    case 'heading': {
      const [text = ''] = inlineLines(one.content, new Set(['strong', 'break']))
      return text === '' ? [] : [`**${text}**`]
    }
    case 'code':
      return codeLines(one.text, one.language, place)
    case 'table':
      return codeLines(tableText(one.rows), '', place)
    case 'plain':
      return codeLines(one.text, '', place)
    case 'quote':
      return blockLines(one.content, { ...place, inQuote: true, isFirstOfItem: false, previous: 'other' }, false).map(
        (line) => (line === '' ? '>' : `> ${line}`),
      )
    case 'list': {
      const marker = markers(one.start, (place.previous === 'list') !== (place.depth % 2 === 1))
      const items = one.items.map((content, i) => itemLines(content, marker(i), one.isTight, place))
      return items.flatMap((item, i) => (i > 0 && !one.isTight ? ['', ...item] : item))
    }
    case 'rule':
      return ['\\* \\* \\*']
  }
}

/** Whether a list can follow the paragraph of its item without an empty line. */
const continues = (one: Prose, isTight: boolean) =>
  isTight && one.is === 'list' && (one.start === undefined || one.start === 1) && (one.items[0]?.length ?? 0) > 0

const blockLines = (content: readonly Prose[], place: Place, isTight: boolean): Lines => {
  const all: string[] = []
  let { previous } = place
  for (const one of content) {
    const next = lines(one, { ...place, previous, isFirstOfItem: place.isFirstOfItem && all.length === 0 })
    if (next.length === 0) continue
    if (all.length > 0 && !continues(one, isTight)) all.push('')
    for (const line of next) all.push(line)
    previous = one.is
  }
  return all
}

/** Markdown of prose, followed by an empty line. `previous` is the kind of the block before it. */
export const proseText = (parts: readonly Prose[], previous: Kind): string => {
  const all = blockLines(parts, { inQuote: false, isFirstOfItem: false, previous, depth: 0 }, false)
  return all.length === 0 ? '' : `${all.join('\n')}\n\n`
}
