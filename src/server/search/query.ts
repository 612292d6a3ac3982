import { aTime } from '../../contract/parameters.ts'
import { comparable } from '../trace/messages/folded.ts'
import { places } from '../trace/tokens/searched-text.ts'

const fields = [
  'agent',
  'model',
  'tool',
  'role',
  'author',
  'project',
  'namespace',
  'branch',
  'is',
  'has',
  'in',
] as const
export type Field = (typeof fields)[number]

/** A field must have one of the values in `any`, if there are some, and none of those in `none`. */
export type Condition = { readonly any: readonly string[]; readonly none: readonly string[] }

/** A query. Its words and phrases are as they were typed. */
export type Query = {
  /** Lists of alternatives: one text of each list must occur. */
  readonly texts: readonly (readonly string[])[]
  /** Texts that must not occur. */
  readonly excluded: readonly string[]
  readonly conditions: ReadonlyMap<Field, Condition>
  /** The time of a message, in milliseconds, both inclusive. */
  readonly from?: number
  readonly to?: number
}

/** A value that no field has. */
const NOTHING = '\0'

/** The values that two lists allow; an empty list allows all values. */
const both = (a: readonly string[], b: readonly string[]): readonly string[] => {
  if (a.length === 0) return b
  const values = new Set(a.map(comparable))
  const common = b.filter((value) => values.has(comparable(value)))
  return common.length > 0 ? common : [NOTHING]
}

/** A query with further conditions, all of which must be met besides its own. */
export const withConditions = (
  query: Query,
  values: readonly (readonly [Field, string])[],
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
): Query => {
  const conditions = new Map(query.conditions)
  for (const [field, value] of values) {
    const { any = [], none = [] } = conditions.get(field) ?? {}
    conditions.set(field, { any: both(any, [value]), none })
  }
  const first = Math.max(query.from ?? -Infinity, from ?? -Infinity)
  const last = Math.min(query.to ?? Infinity, to ?? Infinity)
  return {
    ...query,
    conditions,
    ...(first === -Infinity ? {} : { from: first }),
    ...(last === Infinity ? {} : { to: last }),
  }
}

/** The most texts that are searched for; further ones are ignored. */
const MOST_TEXTS = 16

/** The possible values of the fields that have few. */
const valuesOf: Partial<Readonly<Record<Field, readonly string[]>>> = {
  role: ['user', 'assistant', 'system'],
  is: ['public'],
  has: ['error'],
  in: places,
}

/** A piece of a query between spaces. */
type Item =
  | { readonly is: 'text' | 'excluded'; readonly text: string }
  | { readonly is: 'condition'; readonly field: Field; readonly value: string; readonly isExcluded: boolean }
  | { readonly is: 'from' | 'to'; readonly time: number }
  | { readonly is: 'or' }

// A minus before a letter, a digit or a quotation mark, the name of a field, and a phrase or a word: `--force` is a word. A quotation mark that is not closed belongs to a word.
const ITEM = /(?<=^|\s)(-(?=[\p{L}\p{N}"])|)(?:([a-z]+):)?(?:"([^"]*)"(?=\s|$)|(\S+))/gu

const Time = aTime('')

const itemOf = ([whole, minus, name, phrase, word]: readonly (string | undefined)[]): Item => {
  if (whole === 'OR') return { is: 'or' }
  const isExcluded = minus === '-'
  const value = phrase ?? word!
  const field = fields.find((field) => field === name && (valuesOf[field]?.includes(value) ?? value !== ''))
  if (field) return { is: 'condition', field, value, isExcluded }
  if ((name === 'from' || name === 'to') && !isExcluded) {
    const { data: time } = Time.safeParse(value)
    if (time !== undefined) return { is: name, time }
  }
  const text = name === undefined ? value : whole!.slice(minus!.length)
  return { is: isExcluded ? 'excluded' : 'text', text }
}

/** The fields in the text of a query, each as it was typed (`word`), with the text of the query without it (`rest`). */
export const fieldsIn = (text: string): { readonly word: string; readonly rest: string }[] =>
  [...text.matchAll(ITEM)].flatMap((match) => {
    if (!['condition', 'from', 'to'].includes(itemOf(match).is)) return []
    const [word] = match
    const parts = [text.slice(0, match.index), text.slice(match.index + word.length)]
    return [
      {
        word,
        rest: parts
          .map((part) => part.trim())
          .filter((part) => part !== '')
          .join(' '),
      },
    ]
  })

/** Whether the item at an index is an `OR` between two texts; elsewhere `OR` is a word. */
const joinsTexts = (items: readonly Item[], at: number) =>
  items[at]?.is === 'or' && items[at - 1]?.is === 'text' && items[at + 1]?.is === 'text'

/** Reads a query as people type it. Each item that is neither a field nor a phrase is a word. */
export const readQuery = (text: string): Query => {
  const items = [...text.matchAll(ITEM)].map(itemOf)
  const texts: string[][] = []
  const excluded: string[] = []
  const conditions = new Map<Field, { any: string[]; none: string[] }>()
  const times: { from?: number; to?: number } = {}
  let remaining = MOST_TEXTS
  for (const [i, item] of items.entries())
    switch (item.is) {
      case 'or':
        if (!joinsTexts(items, i) && remaining-- > 0) texts.push(['OR'])
        break
      case 'text':
        if (item.text.trim() === '' || remaining-- <= 0) break
        if (joinsTexts(items, i - 1) && texts.length > 0) texts.at(-1)!.push(item.text)
        else texts.push([item.text])
        break
      case 'excluded':
        if (item.text.trim() !== '' && remaining-- > 0) excluded.push(item.text)
        break
      case 'condition': {
        const condition = conditions.get(item.field) ?? { any: [], none: [] }
        condition[item.isExcluded ? 'none' : 'any'].push(item.value)
        conditions.set(item.field, condition)
        break
      }
      default:
        times[item.is] = item.time
    }
  return { texts, excluded, conditions, ...times }
}
