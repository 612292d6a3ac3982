import { isBoundary } from '../trace/tokens/words.ts'
import { type QueryItem, itemsIn } from './query.ts'

/** How a query is looser than another one; `what` are the words that were left out, or that took the place of others. */
export type Looser = {
  readonly how: 'without' | 'any time' | 'unquoted' | 'in parts' | 'other forms' | 'words only' | 'any word'
  readonly what: string
  readonly q: string
}

const typed = (items: readonly QueryItem[]): string =>
  items
    .map(({ word }) => word)
    .filter((word) => word !== '')
    .join(' ')

const ofTime = ({ is }: QueryItem): boolean => is === 'from' || is === 'to'
const isField = ({ is }: QueryItem): boolean => is === 'condition' || is === 'not understood'

const unquoted = ({ word }: QueryItem): string => word.replaceAll('"', '').trim()

/** Runs of letters and digits, and of what joins them in names. */
const NAMES = /[\p{L}\p{M}\p{N}_$]+/gu

/** A word as its parts, if it has several that are words themselves: `get user name` for `getUserName`, and `src http app` for `src/http/app`. */
const inParts = (word: string): string => {
  const parts = [...word.matchAll(NAMES)].flatMap(([name]) => {
    const bounds = Array.from({ length: name.length + 1 }, (_, at) => at).filter((at) => isBoundary(name, at))
    return bounds.slice(1).map((end, i) => name.slice(bounds[i], end))
  })
  const found = parts.filter((part) => part.length > 1)
  return found.length > 1 ? found.map((part) => part.toLowerCase()).join(' ') : word
}

const ENGLISH = /^[a-z]{3,}$/i
/** The singular of a word, or its plural. */
const otherForm = (word: string): string => (/[^s]s$/i.test(word) ? word.slice(0, -1) : `${word}s`)

/** The most words of which each is left out once. */
const MOST_LEFT_OUT = 4

/** Queries that may find something where this one does not, those that are nearest to it first. */
export const looserThan = (text: string): Looser[] => {
  const items = itemsIn(text).filter((item) => item.is !== 'text' || unquoted(item) !== '')
  const words = items.filter(({ is }) => is === 'text')
  const hasOr = items.some(({ is }) => is === 'or')
  const without = (one: QueryItem): Looser => ({
    how: 'without',
    what: one.word,
    q: typed(items.filter((item) => item !== one)),
  })
  const replaced = (how: Looser['how'], change: (word: QueryItem) => string): Looser => {
    const changed = items.map((item) => (item.is === 'text' ? { ...item, word: change(item) } : item))
    return { how, what: typed(changed.filter(({ is }) => is === 'text')), q: typed(changed) }
  }
  const inForms = ({ word }: QueryItem) => (ENGLISH.test(word) ? `${word} OR ${otherForm(word)}` : word)
  const plain = words.map(unquoted).join(' ')
  const all = [
    ...items.filter((item) => isField(item) || item.is === 'excluded').map(without),
    { how: 'any time', what: typed(items.filter(ofTime)), q: typed(items.filter((item) => !ofTime(item))) } as const,
    replaced('unquoted', unquoted),
    replaced('in parts', (item) => unquoted(item).split(/\s+/).map(inParts).join(' ')),
    replaced('other forms', inForms),
    ...(words.length > 1 && words.length <= MOST_LEFT_OUT && !hasOr ? words.map(without) : []),
    { how: 'words only', what: plain, q: plain } as const,
    ...(hasOr ? [] : [{ how: 'any word', what: plain, q: plain.split(/\s+/).join(' OR ') } as const]),
  ]
  const seen = new Set([typed(items), ''])
  return all.filter(({ q }) => !seen.has(q) && seen.add(q))
}
