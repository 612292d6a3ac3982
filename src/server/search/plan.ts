import { int4s } from '../../eventstore/postgres/arrays.ts'
import { filterToken } from '../trace/tokens/filter-tokens.ts'
import type { HashOf } from '../trace/tokens/hashes.ts'
import { type NeededTokens, neededTokens } from '../trace/tokens/words.ts'
import type { Field, Query } from './query.ts'

/** A condition on a row of the index: it has all these tokens, meets one of several conditions, or meets all of them. */
export type Needed =
  | { readonly is: 'all'; readonly in: 'tokens' | 'of_trace'; readonly tokens: readonly string[] }
  | { readonly is: 'and'; readonly of: readonly Needed[] }
  | Alternatives
type Alternatives = { readonly is: 'or'; readonly of: readonly Needed[] }

/** The fields whose values belong to a trace, and those whose values belong to a message; both have a model. */
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

/** Whether a condition demands nothing, so that every row meets it. */
const isAlwaysTrue = (needed: Needed): boolean => {
  switch (needed.is) {
    case 'all':
      return needed.tokens.length === 0
    case 'or':
      return needed.of.some(isAlwaysTrue)
    case 'and':
      return needed.of.every(isAlwaysTrue)
  }
}

/** The token of a text that is one plain word, without parts: every row that has this token has the text. Undefined for any other text. */
const exactToken = (text: string): string | undefined => {
  const [needed, ...others] = neededTokens(text)
  return needed?.length === 1 && needed[0]!.length === 1 && others.length === 0 ? needed[0]![0] : undefined
}

/** The condition that every result of a query meets in the index. */
export const neededBy = ({ texts, conditions }: Query): Needed => {
  const ofTexts = texts.map((alternatives) => or(alternatives.map((text) => ofEntries(neededTokens(text)))))
  const ofFields = [...conditions]
    .filter(([, { any }]) => any.length > 0)
    .map(([field, { any }]) => or(any.flatMap((value) => ofValue(field, value))))
  // A query without words and fields of messages lists traces: then only the rows of traces themselves are needed.
  const isOfTraces =
    texts.length === 0 && ![...conditions.keys()].some((field) => field !== 'model' && OF_MESSAGE.has(field))
  return and([...ofTexts, ...ofFields, ...(isOfTraces ? [all([filterToken('is', 'trace')])] : [])])
}

/** Conditions on rows of the index, none of which a result meets. All other excluded texts are looked for in the texts of proposed rows. */
export const excludedBy = ({ excluded, conditions }: Query): Needed[] => {
  const texts = conditions.has('in') ? [] : excluded // they are excluded only in some places of a message
  return [
    ...texts.flatMap((text) => exactToken(text) ?? []).map((token) => all([token])),
    ...[...conditions].flatMap(([field, { none }]) =>
      none.flatMap((value) => (field === 'in' ? [] : ofValue(field, value))),
    ),
  ]
}

/**
 * Whether the index alone can answer a query: it has only words without parts, and no condition on their place. A wrong answer, because two words
 * have the same hash, is rarer than one in a thousand million.
 */
export const isExact = ({ texts, excluded, conditions }: Query): boolean =>
  !conditions.has('in') && [...texts.flat(), ...excluded].every((text) => exactToken(text) !== undefined)

/** A condition in another form: all tokens that a row must have, by column, and the alternatives of which it must meet one each. */
const flattened = (needed: Needed): { tokens: string[]; of_trace: string[]; others: Alternatives[] } => {
  const found = { tokens: [] as string[], of_trace: [] as string[], others: [] as Alternatives[] }
  const add = (one: Needed) => {
    if (isAlwaysTrue(one)) return
    if (one.is === 'all') found[one.in].push(...one.tokens)
    else if (one.is === 'and') one.of.forEach(add)
    else found.others.push(one)
  }
  add(needed)
  return found
}

/** How rows are found, which decides how SQL tests for hashes: one test that the index of hashes can answer, or one for each hash. */
export type Access = 'by index' | 'row by row'

/** A condition on the row `d` in SQL. @param add adds a parameter, and returns its name in SQL */
export const conditionOf = (
  needed: Needed,
  hashOf: HashOf,
  access: Access,
  add: (value: unknown) => string,
): string => {
  const { tokens, of_trace, others } = flattened(needed)
  const contains = (column: string, wanted: readonly string[]) => {
    if (wanted.length === 0) return []
    if (access === 'row by row') return wanted.map((token) => `${add(hashOf(token))}::int4 = any(d.${column})`)
    return [`d.${column} @> ${add(int4s(wanted.map(hashOf)))}::int4[]`]
  }
  const conditions = [
    ...contains('tokens', tokens),
    ...contains('of_trace', of_trace),
    ...others.map(({ of }) => `(${of.map((each) => conditionOf(each, hashOf, access, add)).join(' or ')})`),
  ]
  return conditions.length === 0 ? 'true' : conditions.join(' and ')
}
