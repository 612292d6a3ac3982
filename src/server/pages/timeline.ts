import type { Entry } from '../../contract/history.ts'
import type { NamespaceInfo } from '../../contract/namespaces.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { visibleLine } from '../../transcript/visible.ts'
import { dayOf } from './days.ts'
import { beneathNamespace, tracePath } from './links.ts'
import { namespaceHeading } from './namespace-tabs.ts'
import type { Page } from './page.ts'
import { personBadge } from './person.ts'

/** What of a timeline is shown. */
export const timelineParts = ['all', 'people', 'settings', 'deletions'] as const
export type TimelinePart = (typeof timelineParts)[number]

const partNames = { all: 'All', people: 'People', settings: 'Settings', deletions: 'Deletions' } as const

type TimelineView = {
  readonly namespace: NamespaceInfo
  readonly part: TimelinePart
  readonly events: readonly Entry[]
  readonly nextCursor: string | undefined
  readonly now: number
}

const pathOf = ({ slug }: NamespaceInfo, part: TimelinePart, cursor?: string): string => {
  const query = new URLSearchParams({
    ...(part === 'all' ? {} : { part }),
    ...(cursor === undefined ? {} : { cursor }),
  })
  return `${beneathNamespace(slug, 'timeline')}${query.size === 0 ? '' : `?${query.toString()}`}`
}

const partLinks = ({ namespace, part }: TimelineView): Html =>
  markup`<nav class="seg" aria-label="What is shown">${timelineParts.map((one) => {
    const current = one === part ? markup` aria-current="page"` : none
    return markup`<a href="${pathOf(namespace, one)}"${current}>${partNames[one]}</a>`
  })}</nav>
`

/** The badge of who did it; the service itself has none. */
const actorHtml = ({ actor }: Entry): Html =>
  actor?.displayName === undefined
    ? none
    : markup`${personBadge({ id: actor.userId, displayName: actor.displayName })} `

const traceHtml = ({ slug }: NamespaceInfo, { trace, type }: Entry): Html =>
  trace === undefined || type === 'TraceDeleted'
    ? none
    : markup`<div class="meta"><a href="${tracePath(slug, trace.externalId)}"><bdi>${visibleLine(trace.externalId)}</bdi></a></div>`

/** What stands with an entry besides who did what: `beneath` its sentence, and at the `end` of its line. */
type Beside = { readonly beneath?: Html; readonly end?: Html }

const item = (entry: Entry, { beneath = none, end = none }: Beside): Html => {
  const iso = new Date(entry.at).toISOString()
  return markup`<li><div class="at"><time datetime="${iso}" data-shows="time">${iso.slice(11, 16)}</time></div>
<div class="in">${actorHtml(entry)}<span dir="auto">${visibleLine(entry.text)}</span>${beneath}</div><div class="end">${end}</div></li>
`
}

/** Entries by the days on which they happened, in their order. */
export const entriesByDays = (events: readonly Entry[], now: number, besideOf: (entry: Entry) => Beside): Html => {
  const days = Map.groupBy(events, ({ at }) => dayOf(at, now).key)
  return markup`${[...days.values()].map(
    (
      some,
    ) => markup`<section class="of-day"><h2 class="day">${dayOf(some[0]!.at, now).heading}</h2><ol class="list traces">
${some.map((entry) => item(entry, besideOf(entry)))}</ol></section>
`,
  )}`
}

/** The link to the page of earlier entries, if there is one. */
export const olderEntries = (path: string | undefined): Html =>
  path === undefined
    ? none
    : markup`<p class="more-link"><a class="btn" rel="next" href="${path}">Older entries</a></p>\n`

/** `/@{slug}/-/timeline`: who did what to a namespace, and when, for its admins. */
export const timelinePage = (view: TimelineView): Page => {
  const { namespace, part, events, nextCursor, now } = view
  const list = entriesByDays(events, now, (entry) => ({ beneath: traceHtml(namespace, entry) }))
  const older = olderEntries(nextCursor === undefined ? undefined : pathOf(namespace, part, nextCursor))
  return {
    title: `Timeline of @${namespace.slug}`,
    name: 'timeline',
    heading: namespaceHeading('Timeline', namespace, 'timeline'),
    layout: 'wide',
    content: markup`${partLinks(view)}${events.length === 0 ? markup`<p>Nothing has happened yet.</p>\n` : list}${older}`,
  }
}
