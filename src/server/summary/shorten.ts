import { trimEndMatching } from '../../base/texts.ts'

const words = new Intl.Segmenter('und', { granularity: 'word' })
const characters = new Intl.Segmenter('und', { granularity: 'grapheme' })

const ELLIPSIS = '…'

/** The longest prefix of whole segments with at most `max` characters. */
const longestPrefix = (segmenter: Intl.Segmenter, text: string, max: number): string => {
  let end = 0
  for (const { segment, index } of segmenter.segment(text)) {
    if (index + segment.length > max) break
    end = index + segment.length
  }
  return text.slice(0, end)
}

/** A text of at most `max` characters (UTF-16), cut after a whole word, in any script. */
export const shorten = (text: string, max: number): string => {
  if (text.length <= max) return text
  const head = text.slice(0, max + 100)
  const whole = trimEndMatching(longestPrefix(words, head, max - 1), /[\s\p{Pd},;:(["'“‘]/u)
  // A single word that is too long is cut, but never inside a character.
  return `${whole === '' ? longestPrefix(characters, head, max - 1) : whole}${ELLIPSIS}`
}

/** Replaces control characters and white space, so that the text fits on one line. */
export const toOneLine = (text: string): string => text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
