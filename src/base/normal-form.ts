import { MOVES_CURSOR, SEQUENCE } from './terminal-sequences.ts'

/** Text of which the normal form is itself, unless it has sequences of a terminal. */
const ASCII = /^[\0-\x7f]*$/
const APOSTROPHES = /[\u2018\u2019\u02bc]/g

const ofCharacters = (text: string): string =>
  ASCII.test(text) ? text : text.normalize('NFKC').replace(APOSTROPHES, "'")

/** What is read instead of a sequence: what moves the cursor ends a word, colours do not. */
const ofSequence = (sequence: string): string => (MOVES_CURSOR.test(sequence) ? '\n' : '')

type Piece = { readonly text: string; readonly index: number; readonly isSequence?: boolean }

/** A text taken apart into sequences of a terminal and what is between them. */
function* piecesOf(text: string): Generator<Piece, void> {
  let from = 0
  for (const { 0: sequence, index } of text.matchAll(SEQUENCE)) {
    yield { text: text.slice(from, index), index: from }
    yield { text: sequence, index, isSequence: true }
    from = index + sequence.length
  }
  yield { text: text.slice(from), index: from }
}

const ofPiece = ({ text, isSequence }: Piece): string => (isSequence ? ofSequence(text) : ofCharacters(text))

/**
 * The form in which texts are compared that mean the same characters: NFKC of Unicode, with straight apostrophes, and without what colours them on a
 * terminal. Composed and decomposed letters, full-width and half-width forms, and ligatures are the same in it.
 */
export const normalForm = (text: string): string =>
  text.includes('\u001b') ? Array.from(piecesOf(text), ofPiece).join('') : ofCharacters(text)

/** A character with all that NFKC may join to it: marks, the half-width marks of Katakana, and the letters of a syllable of Hangul. */
const CLUSTERS = /[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]+|[^\p{M}\uff9e\uff9f]?[\p{M}\uff9e\uff9f]*/gsu

/** The least pieces whose normal forms together are that of the text. */
function* leastPiecesOf(text: string): Generator<Piece, void> {
  for (const piece of piecesOf(text)) {
    if (piece.isSequence) yield piece
    else
      for (const { 0: cluster, index } of piece.text.matchAll(CLUSTERS))
        yield { text: cluster, index: piece.index + index }
  }
}

/** A place in a text, as UTF-16 offsets. */
type Place = readonly [start: number, end: number]

/** A text in its normal form, and where a place of that is in the text itself: whole characters. */
export type NormalText = { readonly normal: string; readonly placeOf: (place: Place) => Place }

const itself = (place: Place): Place => place

export const newNormalText = (text: string): NormalText => {
  if (normalForm(text) === text) return { normal: text, placeOf: itself }
  let normal = ''
  /** For each character of the normal form where the characters begin and end that it was made of. */
  const starts: number[] = []
  const ends: number[] = []
  for (const piece of leastPiecesOf(text)) {
    const made = ofPiece(piece)
    for (let i = 0; i < made.length; i += 1) {
      starts.push(piece.index)
      ends.push(piece.index + piece.text.length)
    }
    normal += made
  }
  return { normal, placeOf: ([start, end]) => [starts[start]!, ends[end - 1]!] }
}
