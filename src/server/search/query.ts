import { comparable } from '../../base/folded.ts'
import { places } from '../trace/tokens/searched-text.ts'
import { nearest } from './nearest.ts'
import { type QueryClock, TIMES, spanIn } from './times.ts'

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
  /** What of the text is left out, because a field that exists does not take this value, and what it takes. */
  readonly notUnderstood: readonly NotUnderstood[]
}

export type NotUnderstood = { readonly text: string; readonly why: string }

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

/** The fields that a query may have, besides those of time. Each takes any text, or one of a few values. */
export type KnownFields = Partial<Readonly<Record<Field, 'any' | readonly string[]>>>

const fieldsOfTraces = {
  agent: 'any',
  model: 'any',
  author: 'any',
  project: 'any',
  namespace: 'any',
  branch: 'any',
  is: ['public'],
} as const satisfies KnownFields

/** The fields of a search. */
export const searchedFields: KnownFields = {
  ...fieldsOfTraces,
  tool: 'any',
  role: ['user', 'assistant', 'system'],
  has: ['error'],
  in: places,
}

/** The fields by which lists of sessions are filtered. */
export const listedFields: KnownFields = { ...fieldsOfTraces, has: ['error', 'changes'] }

/** A piece of a query between spaces. */
type Item =
  | { readonly is: 'text' | 'excluded'; readonly text: string }
  | { readonly is: 'condition'; readonly field: Field; readonly value: string; readonly isExcluded: boolean }
  | { readonly is: 'from' | 'to'; readonly time: number }
  | (NotUnderstood & { readonly is: 'not understood' })
  | { readonly is: 'or' }

// A minus before a letter, a digit or a quotation mark, the name of a field, and a phrase or a word: `--force` is a word. A quotation mark that is not closed belongs to a word.
const ITEM = /(?<=^|\s)(-(?=[\p{L}\p{N}"])|)(?:([a-z]+):)?(?:"([^"]*)"(?=\s|$)|(\S+))/gu

/** The fields of time: `since` is another word for `from`. */
const timeFields = { from: 'from', since: 'from', to: 'to' } as const

const isTimeField = (name: string | undefined): name is keyof typeof timeFields =>
  name !== undefined && Object.hasOwn(timeFields, name)

const listed = (values: readonly string[]): string =>
  values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)!}`

/** Reads a field of time. Only a minus and a value that is no time are not understood. */
const timeItem = (text: string, name: keyof typeof timeFields, value: string, clock: QueryClock): Item => {
  if (text.startsWith('-')) return { is: 'not understood', text, why: `${name}: cannot be excluded` }
  const span = spanIn(value, clock)
  if (!span) return { is: 'not understood', text, why: `${name}: takes ${TIMES}` }
  const side = timeFields[name]
  return { is: side, time: span[side] }
}

/** Why a field does not take a value; undefined if it does. */
const refusalOf = (field: Field, value: string, values: KnownFields[Field]): string | undefined => {
  if (values === undefined) return `the field ${field}: is for the search only`
  if (value === '') return `${field}: needs a value`
  return values === 'any' || values.includes(value) ? undefined : `${field}: takes ${listed(values)}`
}

const itemOf = (
  [whole, minus, name, phrase, word]: readonly (string | undefined)[],
  clock: QueryClock,
  known: KnownFields,
): Item => {
  if (whole === 'OR') return { is: 'or' }
  const isExcluded = minus === '-'
  const value = phrase ?? word!
  if (isTimeField(name)) return timeItem(whole!, name, value, clock)
  const field = fields.find((field) => field === name)
  const why = field && refusalOf(field, value, known[field])
  if (why !== undefined) return { is: 'not understood', text: whole!, why }
  if (field) return { is: 'condition', field, value, isExcluded }
  const text = name === undefined ? value : whole!.slice(minus!.length)
  return { is: isExcluded ? 'excluded' : 'text', text }
}

/** A field as people type it in a query; undefined for a value that cannot be typed. */
export const typed = (field: string, value: string): string | undefined =>
  value === '' || value.includes('"') ? undefined : `${field}:${/\s/.test(value) ? `"${value}"` : value}`

/** Pieces of a query as one. */
export const joined = (...pieces: readonly string[]): string => pieces.filter((piece) => piece !== '').join(' ')

/** Which items of a query are fields does not depend on the time. */
const ANY_CLOCK: QueryClock = { now: 0, zone: 'UTC' }

/** A piece of the text of a query, as it was typed. */
export type QueryItem = { readonly word: string; readonly is: Item['is'] }

export const itemsIn = (text: string): QueryItem[] =>
  [...text.matchAll(ITEM)].map((match) => ({ word: match[0], is: itemOf(match, ANY_CLOCK, searchedFields).is }))

/** The fields in the text of a query, each as it was typed (`word`), with the text of the query without it (`rest`). */
export const fieldsIn = (text: string): { readonly word: string; readonly rest: string }[] => {
  const items = itemsIn(text)
  return items
    .filter(({ is }) => !['text', 'excluded', 'or'].includes(is))
    .map((field) => ({
      word: field.word,
      rest: joined(...items.filter((item) => item !== field).map(({ word }) => word)),
    }))
}

const NAMED = /^([a-z]+):(.+)$/is

/** A text of a query with the field in it that looks like one with a mistyped name, such as `project:shop` for `porject:shop`. */
export type Meant = { readonly text: string; readonly instead: string }

/** The fields that may be meant by texts of a query: names near to those of fields, with values that these take. */
export const meantBy = (
  { texts }: Pick<Query, 'texts'>,
  clock: QueryClock,
  known: KnownFields = searchedFields,
): Meant[] =>
  texts.flat().flatMap((text) => {
    const [, name, value = ''] = NAMED.exec(text) ?? []
    const names = name === undefined ? [] : nearest(name, [...Object.keys(known), ...Object.keys(timeFields)])
    const meant = names.map((one) => `${one}:${value}`)
    const instead = meant.find((one) => {
      const [match, ...others] = one.matchAll(ITEM)
      const kind = match && others.length === 0 ? itemOf(match, clock, known).is : 'text'
      return kind === 'condition' || kind === 'from' || kind === 'to'
    })
    return instead === undefined ? [] : [{ text, instead }]
  })

/** Whether the item at an index is an `OR` between two texts; elsewhere `OR` is a word. */
const joinsTexts = (items: readonly Item[], at: number) =>
  items[at]?.is === 'or' && items[at - 1]?.is === 'text' && items[at + 1]?.is === 'text'

/** Reads a query as people type it. Each item that is neither a field nor a phrase is a word; the name of no field is part of a word (`localhost:3000`). */
export const readQuery = (text: string, clock: QueryClock, known: KnownFields = searchedFields): Query => {
  const items = [...text.matchAll(ITEM)].map((match) => itemOf(match, clock, known))
  const notUnderstood: NotUnderstood[] = []
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
      case 'not understood':
        notUnderstood.push({ text: item.text, why: item.why })
        break
      default:
        times[item.is] = item.time
    }
  return { texts, excluded, conditions, ...times, notUnderstood }
}
