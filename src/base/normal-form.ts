/** Text of which the normal form is itself. */
const ASCII = /^[\0-\x7f]*$/
const APOSTROPHES = /[\u2018\u2019\u02bc]/g

/**
 * The form in which texts are compared that mean the same characters: NFKC of Unicode, with straight apostrophes. Composed and decomposed letters, full-width and
 * half-width forms, and ligatures are the same in it.
 */
export const normalForm = (text: string): string =>
  ASCII.test(text) ? text : text.normalize('NFKC').replace(APOSTROPHES, "'")

/** A character with all that NFKC may join to it: marks, the half-width marks of Katakana, and the letters of a syllable of Hangul. */
const CLUSTERS = /[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]+|[^\p{M}\uff9e\uff9f]?[\p{M}\uff9e\uff9f]*/gsu

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
  for (const { 0: cluster, index } of text.matchAll(CLUSTERS)) {
    const made = normalForm(cluster)
    for (let i = 0; i < made.length; i += 1) {
      starts.push(index)
      ends.push(index + cluster.length)
    }
    normal += made
  }
  return { normal, placeOf: ([start, end]) => [starts[start]!, ends[end - 1]!] }
}
