import Anser from 'anser'
import { SEQUENCE } from '../base/terminal-sequences.ts'
import { slices } from './slices.ts'

/** A piece of terminal output in one style. */
type Span = { readonly text: string; readonly colour?: string; readonly marks?: readonly string[] }

/** How many characters are processed at a time. */
const SIZE = 8 * 1024
const ESCAPE = '\u001b'

/** An unfinished sequence at the end of a text; for a title or link perhaps with the first half of its end. */
const UNFINISHED = /\u001b(?:\[[0-?]*[ -/]*|\][^\u0007\u001b]*\u001b?|[()])?$/
/** The length of the longest unfinished sequence that is recognised, which is a title or link. */
const MOST_UNFINISHED = 2 + 2_048 + 1

const SHOWN = new Set(['bold', 'dim', 'italic', 'underline', 'strikethrough'])
const MOST_DECORATIONS = 32

/** Other colours, such as those of the palette beyond the first 16, are shown as the nearest of these. */
const BASE: readonly (readonly [string, number, number, number])[] = [
  ['black', 0, 0, 0],
  ['red', 187, 0, 0],
  ['green', 0, 187, 0],
  ['yellow', 187, 187, 0],
  ['blue', 0, 0, 187],
  ['magenta', 187, 0, 187],
  ['cyan', 0, 187, 187],
  ['white', 238, 238, 238],
  ['bright-black', 119, 119, 119],
]

const nearest = ([red, green, blue]: readonly number[]): string => {
  const distance = ([, r, g, b]: (typeof BASE)[number]) => (r - red!) ** 2 + (g - green!) ** 2 + (b - blue!) ** 2
  return BASE.reduce((best, one) => (distance(one) < distance(best) ? one : best))[0]
}

const LEVELS = [0, 95, 135, 175, 215, 255]

/** Red, green and blue of a colour of the palette of 256, from index 16 on. */
const ofPalette = (index: number): number[] => {
  if (index >= 232) return Array.from({ length: 3 }, () => 8 + 10 * (index - 232))
  const cube = index - 16
  return [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((level) => LEVELS[level]!)
}

const colourOf = (name: string | null, truecolor: string | null): string | undefined => {
  if (name === null) return undefined
  if (name === 'ansi-truecolor') return nearest((truecolor ?? '').split(',').map(Number))
  const palette = name.startsWith('ansi-palette-') ? Number(name.slice('ansi-palette-'.length)) : undefined
  return palette === undefined ? name.slice('ansi-'.length) : nearest(ofPalette(palette))
}

/** The place nearest before this one at which a text can be cut without cutting a sequence. */
export const beforeSequence = (text: string, at: number): number => {
  const end = text.slice(Math.max(0, at - MOST_UNFINISHED), at)
  const start = end.search(UNFINISHED)
  return start < 0 ? at : at - end.length + start
}

/** Slices that end before a sequence that they would cut. */
function* wholeSlices(text: string): Generator<string, void> {
  let rest = ''
  for (const slice of slices(text, SIZE)) {
    const all = rest + slice
    const cut = beforeSequence(all, all.length)
    rest = all.slice(cut)
    yield all.slice(0, cut)
  }
  if (rest) yield rest
}

type Style = Omit<Span, 'text'>

/** The current style of a terminal. Sequences wait until text follows them; of equal sequences only the last counts. */
const newStyles = () => {
  let anser = new Anser()
  let style: Style = {}
  const waiting = new Set<string>()

  const add = (sequence: string) => {
    waiting.delete(sequence) // so that it is the last
    waiting.add(sequence)
  }

  const current = (): Style => {
    if (waiting.size === 0) return style
    const entry = anser.ansiToJson(`${[...waiting].join('')}x`, { json: true, use_classes: true }).at(-1)!
    waiting.clear()
    if (entry.decorations.length > MOST_DECORATIONS) anser = new Anser()
    const colour = colourOf(entry.fg, entry.fg_truecolor)
    const marks = [...new Set<string>(entry.decorations)].filter((mark) => SHOWN.has(mark))
    style = { ...(colour === undefined ? {} : { colour }), ...(marks.length > 0 ? { marks } : {}) }
    return style
  }

  return { add, current }
}

/**
 * Parses terminal output: text in its colours, without sequences that move the cursor. Each step parses a piece of bounded length; if
 * it has no text, its span is empty.
 */
export function* readTerminal(text: string): Generator<Span, void> {
  if (!text.includes(ESCAPE)) {
    for (const slice of slices(text)) yield { text: slice }
    return
  }
  const styles = newStyles()
  for (const slice of wholeSlices(text)) {
    let done = 0
    for (const match of slice.matchAll(SEQUENCE)) {
      if (match.index > done) yield { ...styles.current(), text: slice.slice(done, match.index) }
      done = match.index + match[0].length
      if (match[0].endsWith('m') && match[0][1] === '[') styles.add(match[0])
    }
    // Sequences at the end of a slice still wait for text.
    yield done < slice.length ? { ...styles.current(), text: slice.slice(done) } : { text: '' }
  }
}
