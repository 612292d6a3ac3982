import { trimEndMatching } from '../trim-end.ts'

const words = new Intl.Segmenter('und', { granularity: 'word' })
const characters = new Intl.Segmenter('und', { granularity: 'grapheme' })

const ELLIPSIS = '…'

/** As many segments as fit. */
const fill = (segmenter: Intl.Segmenter, text: string, room: number): string => {
  let end = 0
  for (const { segment, index } of segmenter.segment(text)) {
    if (index + segment.length > room) break
    end = index + segment.length
  }
  return text.slice(0, end)
}

/** A text of at most `max` characters (UTF-16), cut behind a whole word, in any script. */
export const shorten = (text: string, max: number): string => {
  if (text.length <= max) return text
  const head = text.slice(0, max + 100)
  const whole = trimEndMatching(fill(words, head, max - 1), /[\s\p{Pd},;:(["'“‘]/u)
  // One word that is longer than all the room is cut, but never within a character.
  return `${whole === '' ? fill(characters, head, max - 1) : whole}${ELLIPSIS}`
}

/** On one line. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
