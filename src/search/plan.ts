import { int4s } from '../postgres/arrays.ts'
import { filterToken } from '../trace/tokens/filter-tokens.ts'
import type { HashOf } from '../trace/tokens/hashes.ts'
import { type NeededTokens, neededTokens } from '../trace/tokens/words.ts'
import type { Field, Query } from './query.ts'

/** What the index has to have of a row: all of some tokens, one of several conditions, or all of them. */
type Needed =
  | { readonly is: 'all'; readonly in: 'tokens' | 'of_trace'; readonly tokens: readonly string[] }
  | { readonly is: 'and'; readonly of: readonly Needed[] }
  | Alternatives
type Alternatives = { readonly is: 'or'; readonly of: readonly Needed[] }

/** The fields whose values are those of a trace; a model also is one of a message. */
const OF_TRACE: ReadonlySet<Field> = new Set(['agent', 'model', 'author', 'project', 'namespace', 'branch', 'is'])
const OF_MESSAGE: ReadonlySet<Field> = new Set(['model', 'tool', 'role', 'has', 'in'])

const all = (tokens: readonly string[], column: 'tokens' | 'of_trace' = 'tokens'): Needed => ({
  is: 'all',
  in: column,
  tokens,
})
const and = (of: readonly Needed[]): Needed => ({ is: 'and', of })
const or = (of: readonly Needed[]): Needed => (of.length === 1 ? of[0]! : { is: 'or', of })

const ofEntries = (entries: NeededTokens): Needed =>
  and(entries.map((alternatives) => or(alternatives.map((one) => all(one)))))

const ofValue = (field: Field, value: string): Needed[] => [
  ...(OF_TRACE.has(field) ? [all([filterToken(field, value)], 'of_trace')] : []),
  ...(OF_MESSAGE.has(field) ? [all([filterToken(field, value)])] : []),
]

/** Whether a condition is true of every row. */
const isEmpty = (needed: Needed): boolean =>
  needed.is === 'all'
    ? needed.tokens.length === 0
    : needed.is === 'or'
      ? needed.of.some(isEmpty)
      : needed.of.every(isEmpty)

/** What every row has in the index that a query finds. Exclusions are left to those who read the texts. */
export const neededBy = ({ texts, conditions }: Query): Needed => {
  const ofTexts = texts.map((alternatives) => or(alternatives.map((text) => ofEntries(neededTokens(text)))))
  const ofFields = [...conditions]
    .filter(([, { any }]) => any.length > 0)
    .map(([field, { any }]) => or(any.flatMap((value) => ofValue(field, value))))
  // Lists of traces need their own rows only.
  const isOfTraces =
    texts.length === 0 && ![...conditions.keys()].some((field) => field !== 'model' && OF_MESSAGE.has(field))
  return and([...ofTexts, ...ofFields, ...(isOfTraces ? [all([filterToken('is', 'trace')])] : [])])
}

/** Whether rows that the index proposes are found in their texts, but for one in a thousand million: words without parts, anywhere. */
export const isExact = ({ texts, excluded, conditions }: Query): boolean =>
  excluded.length === 0 &&
  !conditions.has('in') &&
  [...conditions.values()].every(({ none }) => none.length === 0) &&
  texts.every((alternatives) =>
    alternatives.every((text) => {
      const [needed, ...others] = neededTokens(text)
      return needed?.length === 1 && needed[0]!.length === 1 && others.length === 0
    }),
  )

/** Tokens that a row has to have all of, by column, and what else it needs. */
const flattened = (needed: Needed): { tokens: string[]; of_trace: string[]; others: Alternatives[] } => {
  const found = { tokens: [] as string[], of_trace: [] as string[], others: [] as Alternatives[] }
  const add = (one: Needed) => {
    if (isEmpty(one)) return
    if (one.is === 'all') found[one.in].push(...one.tokens)
    else if (one.is === 'and') one.of.forEach(add)
    else found.others.push(one)
  }
  add(needed)
  return found
}

/** How SQL says that a column has all of some hashes: `contained` by an index, and `each` sooner of a row that is looked at. */
export type Says = 'contained' | 'each'

/** A condition in SQL, whose parameters are added to `values`. */
export const conditionOf = (needed: Needed, hashOf: HashOf, says: Says, values: unknown[]): string => {
  const { tokens, of_trace, others } = flattened(needed)
  const contains = (column: string, wanted: readonly string[]) => {
    if (wanted.length === 0) return []
    if (says === 'each') return wanted.map((token) => `$${values.push(hashOf(token))}::int4 = any(d.${column})`)
    return [`d.${column} @> $${values.push(int4s(wanted.map(hashOf)))}::int4[]`]
  }
  const conditions = [
    ...contains('tokens', tokens),
    ...contains('of_trace', of_trace),
    ...others.map(({ of }) => `(${of.map((each) => conditionOf(each, hashOf, says, values)).join(' or ')})`),
  ]
  return conditions.length === 0 ? 'true' : conditions.join(' and ')
}
