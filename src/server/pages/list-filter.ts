import { icon } from '../../transcript/html/icons.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { visibleLine } from '../../transcript/visible.ts'
import { type LeftOut, leftOutHtml, zoneHtml } from './query-notes.ts'
import { type ListOptions, type SessionList, moreLink, traceList } from './trace-list.ts'

/** A link to the same list with another filter. */
export type OtherFilter = { readonly label: string; readonly q: string }

/** What the script of the page needs to know of a list, to keep it up to date. */
export type LiveList = {
  /** The sessions that it is made of: those of a namespace for its members, or public ones. */
  readonly of: 'members' | 'public'
  /** The namespace, if it is not the viewer's active one. */
  readonly slug?: string | undefined
  /** The user whose sessions it has, if it has not those of all. */
  readonly author?: string | undefined
  /** When the list was read, in milliseconds since 1970. */
  readonly now: number
}

/** The times by which a list of sessions can be sorted, by their names in the address; the first one is the default. */
export const listSorts = ['started', 'updated'] as const
export type ListSortName = (typeof listSorts)[number]

export type FilterView = {
  readonly live: LiveList
  /** The path of the list, and what its address has beside filter, order and place. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly q: string
  /** Undefined for a list that has one order only. */
  readonly sort: ListSortName | undefined
  /** The fields in `q`, each with the filter without it. */
  readonly fields: readonly OtherFilter[]
  /** Fields that could be added. */
  readonly suggestions: readonly OtherFilter[]
  /** Values that sessions on the page have, by field, with how many have them. */
  readonly narrower: readonly {
    readonly name: string
    readonly values: readonly (OtherFilter & { readonly count: number })[]
  }[]
  readonly leftOut: readonly (Omit<LeftOut, 'instead'> & { readonly instead: OtherFilter | undefined })[]
  /** Fields with a value that no session has which was looked at, and filters with a value that may be meant. */
  readonly unknown: readonly { readonly label: string; readonly meant: readonly OtherFilter[] }[]
  /** The time zone of the days in `q`; undefined if it has none. */
  readonly zone: string | undefined
  /** Whether sessions are left out. */
  readonly isFiltered: boolean
  /** So many sessions were looked at, and older ones were not; undefined if all were. */
  readonly lookedAt: number | undefined
}

const address = (path: string, params: Readonly<Record<string, string>>): string => {
  const query = new URLSearchParams(params).toString()
  return query === '' ? path : `${path}?${query}`
}

/** What the address of a list has beside its place. */
const paramsOf = ({ params, sort }: FilterView, q: string): Record<string, string> => ({
  ...params,
  ...(sort === undefined || sort === listSorts[0] ? {} : { sort }),
  ...(q === '' ? {} : { q }),
})

const pathOf = (view: FilterView, q: string): string => address(view.path, paramsOf(view, q))

const field = (view: FilterView): Html => {
  const hidden = Object.entries(paramsOf(view, '')).map(
    ([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`,
  )
  return markup`<form class="field" role="search" aria-label="Filter" action="${view.path}"><label for="filter" class="vh">Filter these sessions</label>${hidden}<input id="filter" name="q" type="search" placeholder="Filter: project:… agent:… since:7d" maxlength="400" autocomplete="off" value="${view.q}"></form>`
}

const order = (view: FilterView): Html =>
  view.sort === undefined
    ? none
    : markup`<nav class="seg push" aria-label="Order">${listSorts.map((sort) => {
        const href = pathOf({ ...view, sort }, view.q)
        const label = sort === 'started' ? 'Started' : 'Updated'
        return sort === view.sort
          ? markup`<a href="${href}" aria-current="page">${label}</a>`
          : markup`<a href="${href}">${label}</a>`
      })}</nav>`

const chips = (view: FilterView): Html =>
  markup`<nav class="chips" aria-label="Filters">${view.fields.map(
    ({ label, q }) =>
      markup`<a class="chip on" href="${pathOf(view, q)}" aria-label="Without ${label}"><b>${visibleLine(label)}</b>${icon('close')}</a>`,
  )}${view.suggestions.map(({ label, q }) => markup`<a class="chip" href="${pathOf(view, q)}">${label}</a>`)}</nav>
`

/** The same query in the search, which looks for words, and in more fields. */
const searchLink = ({ q }: FilterView): Html =>
  markup`<a class="btn" href="${address('/search', { q })}">${icon('search')}Search all sessions for this</a>`

const leftOut = (view: FilterView): Html =>
  view.leftOut.length === 0
    ? none
    : markup`${leftOutHtml(
        view.leftOut.map(({ instead, ...rest }) => ({
          ...rest,
          instead: instead && { label: instead.label, href: pathOf(view, instead.q) },
        })),
      )}<p>${searchLink(view)}</p>
`

const unknownHtml = (view: FilterView): Html =>
  markup`${view.unknown.map(({ label, meant }) => {
    const links = meant.map(
      ({ label, q }) => markup` <a href="${pathOf(view, q)}"><bdi>${visibleLine(label)}</bdi></a>`,
    )
    return markup`<p class="note" role="status">${icon('search')}<span>No session ${view.lookedAt === undefined ? 'here' : 'that was looked at'} has <b dir="auto">${visibleLine(label)}</b>.${links.length === 0 ? none : markup` Do you mean${links}?`}</span></p>
`
  })}`

const hasOwnOrder = ({ sort }: FilterView): boolean => sort !== undefined && sort !== listSorts[0]

/** What the script of the page finds out about the list. A list with a filter or another order is not the one that it is told of. */
const liveData = (view: FilterView): Html => {
  const { of, slug, author, now } = view.live
  const optional = [
    slug === undefined ? none : markup` data-slug="${slug}"`,
    author === undefined ? none : markup` data-author="${author}"`,
    view.isFiltered || hasOwnOrder(view) ? markup` data-asked` : none,
  ]
  return markup` data-list="${of}" data-now="${now}"${optional}`
}

/**
 * What stands above a list: `before`, such as whose sessions it has, then its filter in words and links, and what was not understood of it. A list
 * without sessions and filter has only the first.
 */
export const filterHtml = (view: FilterView, { traces }: SessionList, before: Html = none): Html => {
  if (traces.length === 0 && view.q === '') return markup`<div class="row"${liveData(view)}>${before}</div>\n`
  return markup`<div class="row"${liveData(view)}>${before}${field(view)}${order(view)}</div>
${chips(view)}${unknownHtml(view)}${leftOut(view)}${zoneHtml(view.zone)}`
}

const nothing = (view: FilterView): Html =>
  markup`<div class="blank left"><h2>No session matches</h2><p><a class="btn" href="${pathOf(view, '')}">All of this list</a></p></div>
`

const nextHtml = (view: FilterView, nextCursor: string): Html => {
  const href = address(view.path, { ...paramsOf(view, view.q), cursor: nextCursor })
  if (view.lookedAt === undefined) return moreLink(href, 'Older sessions')
  return markup`<div class="blank left"><p>${view.lookedAt.toLocaleString('en')} sessions were looked at, sub-agents among them. Older ones were not looked at.</p>
<p><a class="btn" rel="next" href="${href}">Look at older ones</a></p></div>
`
}

/** A list as its filter leaves it; `empty` is shown in place of one without sessions that has no filter. */
export const filteredListHtml = (
  view: FilterView,
  { traces, nextCursor }: SessionList,
  options: Omit<ListOptions, 'order'>,
  empty: Html,
): Html => {
  const order = view.sort === undefined ? 'createdAt' : (`${view.sort}At` as const)
  const instead = view.isFiltered ? nothing(view) : empty
  const shown = traces.length === 0 ? instead : traceList(traces, { order, ...options })
  return markup`${shown}${nextCursor === undefined ? none : nextHtml(view, nextCursor)}`
}

/** Values of a field by which a list can be narrowed, each with a number of sessions. */
export const valuesHtml = (view: FilterView, { name, values }: FilterView['narrower'][number]): Html =>
  markup`<section><h2>${name}</h2><ul>${values.map(
    ({ label, q, count }) =>
      markup`<li><a href="${pathOf(view, q)}"><bdi>${visibleLine(label)}</bdi></a><span class="push num">${count.toLocaleString('en')}</span></li>`,
  )}</ul></section>
`

/** The values by which a list can be narrowed, for the margin. */
export const narrowerHtml = (view: FilterView): Html =>
  view.narrower.length === 0
    ? none
    : markup`${view.narrower.map((one) => valuesHtml(view, one))}<p>Counted over the sessions on this page.</p>`
