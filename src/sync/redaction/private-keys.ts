import type { Finder } from './finding.ts'

const begin = /-----BEGIN[A-Z ]{0,24}PRIVATE KEY(?: BLOCK)?-----/g
/** Armoured text with its headers; in code its line breaks are written `\n`. */
const body = /[A-Za-z0-9+/=\s\\,:-]*/y
const end = /[A-Z ]{0,24}PRIVATE KEY(?: BLOCK)?-----/y
const SHORTEST = 32

/** Private keys in PEM, also those of which the end is missing. */
export const findPrivateKeys: Finder = (text) => {
  if (!text.includes('PRIVATE KEY')) return []
  return [...text.matchAll(begin)].flatMap(({ 0: line, index }) => {
    body.lastIndex = index + line.length
    const [armour = ''] = body.exec(text) ?? []
    if (armour.length < SHORTEST) return []
    // The body takes the beginning of the line that ends it along: `-----END`.
    end.lastIndex = body.lastIndex
    return [{ rule: 'privatekey', start: index, end: end.test(text) ? end.lastIndex : body.lastIndex }]
  })
}
