import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { FeedTrace } from '../../contract/feed.ts'
import { Cursor, DEFAULT_LIMIT } from '../../contract/parameters.ts'
import { search as api } from '../../contract/search.ts'
import type { FeedSources } from '../feed/queries.ts'
import { type FilterView, type LiveList, type ListSortName, type OtherFilter, listSorts } from '../pages/list-filter.ts'
import { hasDays } from '../pages/query-notes.ts'
import type { SessionList } from '../pages/trace-list.ts'
import { type FilteredList, MOST_LOOKED_AT } from '../search/filtered-lists.ts'
import { type FilteredSessions, filteredSessions, readListFilter } from '../search/list-filter.ts'
import { fieldsIn, joined, typed } from '../search/query.ts'
import { comparable } from '../../base/folded.ts'
import { agentName } from '../../transcript/agent-names.ts'
import { readerZone } from './reader-zone.ts'

/** What the address of a list may have. An unknown order, as in a mistyped address, counts as none. */
export const listQuery = {
  q: api['GET /v1/search'].query.q,
  sort: z.enum(listSorts).optional().catch(undefined),
  cursor: Cursor.optional(),
}
export type ListQuery = z.infer<z.ZodObject<typeof listQuery>>

/** For readers without a session a filtered or sorted list counts as a search, because it may look at as many sessions. */
export const listLimit = ({ query }: FastifyRequest): 'search' | undefined => {
  const { q = '', sort = '' } = query as Partial<Record<'q' | 'sort', string>>
  return q === '' && sort === '' ? undefined : 'search'
}

/** The most values of a field by which a list can be narrowed. */
const MOST_VALUES = 8

type Value = { readonly value: string; readonly label: string }

const authorOf = ({ author }: FeedTrace): Value | undefined => {
  if (author?.displayName === undefined) return undefined
  const { id, displayName: label } = author
  return { value: typed('author', label) === undefined ? id : label, label }
}

/** The fields by which lists can be narrowed, with their titles on the page, and the value that a session has. */
const narrowing: readonly (readonly [field: string, name: string, of: (trace: FeedTrace) => Value | undefined])[] = [
  ['agent', 'Agent', ({ agentId }) => ({ value: agentId, label: agentName(agentId) ?? '' })],
  [
    'model',
    'Model',
    ({ model, modelName }) => (model === undefined ? undefined : { value: model, label: modelName ?? model }),
  ],
  ['project', 'Project', ({ projectName: name }) => (name === undefined ? undefined : { value: name, label: name })],
  ['author', 'Person', authorOf],
]

/** A filter with a field in place of all that it has for that field. */
export const withField = (text: string, field: string, word: string): string => {
  const [own] = fieldsIn(text).filter((one) => one.word.startsWith(`${field}:`))
  return own ? withField(own.rest, field, word) : joined(text, word)
}

const narrowerIn = (text: string, traces: readonly FeedTrace[]): FilterView['narrower'] =>
  narrowing.flatMap(([field, name, of]) => {
    const found = Map.groupBy(
      traces.flatMap((trace) => of(trace) ?? []),
      ({ value }) => value,
    )
    const values = [...found.values()].flatMap((all) => {
      const { value, label } = all[0]!
      const word = typed(field, value)
      return word === undefined || label === '' ? [] : [{ label, count: all.length, q: withField(text, field, word) }]
    })
    const sorted = values.toSorted((a, b) => b.count - a.count).slice(0, MOST_VALUES)
    return sorted.length < 2 ? [] : [{ name, values: sorted }]
  })

const suggested = [
  { label: 'has a failure', q: 'has:error' },
  { label: 'has changes', q: 'has:changes' },
  { label: 'last 7 days', q: 'since:7d' },
] as const

const TIME = /^(?:from|since|to):/

const suggestionsFor = (text: string): OtherFilter[] => {
  const used = fieldsIn(text).map(({ word }) => word)
  const isUsed = (q: string) => used.some((word) => word.endsWith(q) || (TIME.test(word) && TIME.test(q)))
  return suggested.filter(({ q }) => !isUsed(q)).map(({ label, q }) => ({ label, q: joined(text, q) }))
}

/** A field for people: as the rows of the list call its value. */
const labelOf = (word: string, traces: readonly FeedTrace[]): string => {
  const known = suggested.find(({ q }) => q === word)
  if (known) return known.label
  const [, start = '', field = '', value = ''] = /^(-?)([a-z]+):"?(.*?)"?$/su.exec(word) ?? []
  const of = narrowing.find(([name]) => name === field)?.[2]
  const named = traces.map((trace) => of?.(trace)).find((one) => one && comparable(one.value) === comparable(value))
  const person = field === 'author' ? traces.find(({ author }) => author?.id === value)?.author : undefined
  const label = named?.label ?? person?.displayName ?? (field === 'agent' ? agentName(value) : undefined)
  return `${start === '-' ? 'not ' : ''}${field}: ${label ?? value}`
}

const unknownIn = (text: string, { unknown }: FilteredSessions): FilterView['unknown'] =>
  unknown.map(({ field, value, meant }) => ({
    label: `${field}:${value}`,
    meant: meant.flatMap((one) => {
      const word = typed(field, one)
      return word === undefined ? [] : [{ label: one, q: withField(text, field, word) }]
    }),
  }))

type Asked = {
  readonly request: FastifyRequest<{ Querystring: ListQuery }>
  readonly path: string
  readonly live: Omit<LiveList, 'now'>
  /** What the address of the list has beside its filter, order and place. */
  readonly params?: Readonly<Record<string, string>>
  /** The list that is filtered, in an order; `sort` is undefined for a list that has one order only. */
  readonly list: { readonly sorted: (sort: `${ListSortName}At`) => FilteredList } | { readonly only: FilteredList }
  /** The list without a filter, in its first order. */
  readonly whole: (cursor: string | undefined) => Promise<SessionList>
  readonly now: number
}

/**
 * A page of a list as its address asks for it, and what the page says of its filter. A list without a filter is read as if there were no filters.
 * @throws 400 for a cursor that is not of this list
 */
export const listOf = async (
  services: FeedSources,
  { request, path, live, params = {}, list: asked, whole, now }: Asked,
): Promise<{ readonly list: SessionList; readonly filter: FilterView }> => {
  const { q = '', sort = listSorts[0], cursor } = request.query
  const text = q.trim()
  const zone = hasDays(text) ? (readerZone(request) ?? 'UTC') : undefined
  const filter = readListFilter(text, { now, zone: zone ?? 'UTC' })
  const isWhole = filter.isEmpty && ('only' in asked || sort === listSorts[0])
  const found: FilteredSessions = isWhole
    ? { nextCursor: undefined, ...(await whole(cursor)), isCutShort: false, unknown: [] }
    : await filteredSessions(services, 'only' in asked ? asked.only : asked.sorted(`${sort}At`), filter, {
        limit: DEFAULT_LIMIT,
        cursor,
      })
  const { traces } = found
  return {
    list: found,
    filter: {
      live: { ...live, now },
      ...{ path, params, q: text, sort: 'only' in asked ? undefined : sort, zone },
      fields: fieldsIn(text).map(({ word, rest }) => ({ label: labelOf(word, traces), q: rest })),
      suggestions: suggestionsFor(text),
      narrower: narrowerIn(text, traces),
      leftOut: filter.leftOut.map(({ instead, ...rest }) => ({
        ...rest,
        instead: instead === undefined ? undefined : { label: instead, q: text.replace(rest.text, () => instead) },
      })),
      unknown: unknownIn(text, found),
      isFiltered: !filter.isEmpty,
      lookedAt: found.isCutShort ? MOST_LOOKED_AT : undefined,
    },
  }
}
