import { agentName } from '../../transcript/agent-names.ts'
import type { FeedSources } from '../feed/queries.ts'
import type { KnownModels } from '../models/registry.ts'
import { idOfSlug } from '../namespace/queries.ts'
import { comparable } from '../../base/folded.ts'
import {
  type Column,
  type FilteredList,
  type FilteredPage,
  type StoredFilter,
  type StoredValues,
  type ValuesRow,
  filteredPage,
  valuesIn,
} from './filtered-lists.ts'
import { nearest } from './nearest.ts'
import { type Condition, type NotUnderstood, type Query, listedFields, meantBy, readQuery } from './query.ts'
import type { QueryClock } from './times.ts'

/** What a list of sessions is filtered by, as it was typed. */
export type ListFilter = Pick<Query, 'conditions' | 'from' | 'to'> & {
  /** What of the text is left out, and why: among it all words, which only the search looks for; `instead` is the field that a word may stand for. */
  readonly leftOut: readonly (NotUnderstood & { readonly instead?: string | undefined })[]
  readonly isEmpty: boolean
}

/** Reads a filter as people type it. */
export const readListFilter = (text: string, clock: QueryClock): ListFilter => {
  const query = readQuery(text, clock, listedFields)
  const { texts, excluded, conditions, notUnderstood, from, to } = query
  const meant = new Map(meantBy(query, clock, listedFields).map((one) => [one.text, one.instead]))
  const words = [...texts.flat(), ...excluded.map((one) => `-${one}`)].map((one) => ({
    ...{ text: one, instead: meant.get(one) },
    why: meant.has(one) ? 'no field has this name' : 'words are for the search only',
  }))
  return {
    conditions,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    leftOut: [...notUnderstood, ...words],
    isEmpty: conditions.size === 0 && from === undefined && to === undefined,
  }
}

/** The most values that are offered in place of one that no session has. */
const MOST_MEANT = 3

/** A value that none of the sessions looked at has, with values that may be meant. */
export type UnknownValue = { readonly field: string; readonly value: string; readonly meant: readonly string[] }

/** The fields whose values are columns of traces that are free text, or that have names. */
type NamedColumn = Exclude<Column, 'namespace'>
const namedColumns = ['agent', 'model', 'project', 'branch', 'author'] as const satisfies readonly NamedColumn[]

const read = (json: string | null): string[] => (json === null ? [] : [JSON.parse(json) as string])

/** What people may call a stored value, the name that pages show first. */
const namesOf = (column: NamedColumn, row: ValuesRow, models: KnownModels): readonly string[] => {
  const stored = row[column]
  if (stored === null) return []
  if (column === 'author') return [...read(row.author_name), stored]
  const values = read(stored)
  if (column === 'agent') return values.flatMap((id) => [agentName(id) ?? id, id])
  if (column !== 'model') return values
  const known = row.model_name === null ? values.map((one) => models.find(one)) : []
  return [...known.flatMap((one) => (one ? [one.modelName, one.model] : [])), ...read(row.model_name), ...values]
}

/** The stored values of a column by what people may call them, in `comparable` form, with the names as they are shown. */
const newNames = (column: NamedColumn, rows: readonly ValuesRow[], models: KnownModels) => {
  const stored = new Map<string, Set<string>>()
  const shown = new Set<string>()
  for (const row of rows)
    for (const [i, name] of namesOf(column, row, models).entries()) {
      const key = comparable(name)
      stored.set(key, (stored.get(key) ?? new Set()).add(row[column]!))
      if (i === 0) shown.add(name)
    }
  return { storedAs: (name: string) => [...(stored.get(comparable(name)) ?? [])], shown }
}

const namespaceIds = (slugs: readonly string[]): string[] =>
  slugs.flatMap((slug) => {
    try {
      return [idOfSlug(slug)]
    } catch {
      return [] // no namespace has such a slug
    }
  })

/** A filter with values as they are stored, and those of its values that no session looked at has. */
const storedFilter = async (
  services: FeedSources,
  list: FilteredList,
  filter: ListFilter,
  cursor: string | undefined,
): Promise<{ readonly stored: StoredFilter; readonly unknown: readonly UnknownValue[] }> => {
  const { conditions, from, to } = filter
  const wanted = namedColumns.filter((column) => conditions.has(column))
  const asked = { cursor, wanted, times: { from, to } }
  const rows = wanted.length === 0 ? [] : await valuesIn(services, list, asked)
  const models = await services.models.known()
  const columns = new Map<Column, StoredValues>()
  const unknown: UnknownValue[] = []
  for (const column of wanted) {
    const { any, none } = conditions.get(column)!
    const { storedAs, shown } = newNames(column, rows, models)
    for (const value of any)
      if (storedAs(value).length === 0)
        unknown.push({ field: column, value, meant: nearest(value, shown).slice(0, MOST_MEANT) })
    columns.set(column, { any: any.length === 0 ? undefined : any.flatMap(storedAs), none: none.flatMap(storedAs) })
  }
  const namespace = conditions.get('namespace')
  if (namespace) {
    const { any, none } = namespace
    columns.set('namespace', { any: any.length === 0 ? undefined : namespaceIds(any), none: namespaceIds(none) })
  }
  return { stored: { columns, ...flagsOf(conditions), from, to }, unknown }
}

/** Whether a condition wants a value, or wants it not to be there; undefined if it says neither. */
const wants = (condition: Condition | undefined, value: string): boolean | undefined => {
  if (condition?.none.includes(value)) return false
  return condition?.any.includes(value) ? true : undefined
}

const flagsOf = (conditions: ListFilter['conditions']) => ({
  isPublic: wants(conditions.get('is'), 'public'),
  hasError: wants(conditions.get('has'), 'error'),
  hasChanges: wants(conditions.get('has'), 'changes'),
})

export type FilteredSessions = FilteredPage & { readonly unknown: readonly UnknownValue[] }

/**
 * A page of the sessions in a list that meet a filter. Values of one field are alternatives, but for `has:`, all of whose values must be met.
 * Case and form of values do not matter.
 * @throws 400 for a cursor that is not of this list
 */
export const filteredSessions = async (
  services: FeedSources,
  list: FilteredList,
  filter: ListFilter,
  page: { readonly limit: number; readonly cursor: string | undefined },
): Promise<FilteredSessions> => {
  const { stored, unknown } = await storedFilter(services, list, filter, page.cursor)
  return { ...(await filteredPage(services, list, stored, page)), unknown }
}
