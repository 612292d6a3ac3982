import { subAgentsText } from '../../base/sub-agents.ts'
import { AHEAD, isSessionAhead, timeOrArrival } from '../../base/time-ahead.ts'
import type { FeedTrace } from '../../contract/feed.ts'
import { agentAndModel } from '../../transcript/agent-names.ts'
import { listedTitleOf } from '../../transcript/head.ts'
import { icon } from '../../transcript/html/icons.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { strip } from '../../transcript/html/strip.ts'
import { isoText } from '../../transcript/times.ts'
import { visibleLine } from '../../transcript/visible.ts'
import { dayOf, shortDay } from './days.ts'
import { namespacePath, subAgentsPath, tracePath } from './links.ts'
import { rowCounts, rowLength, runsUntil } from './row-facts.ts'

export type SessionList = { readonly traces: readonly FeedTrace[]; readonly nextCursor?: string | undefined }

/** The time by which a list is sorted. A list by start or last change has headings for days; in a list by upload each row shows its day. */
type ListOrder = 'createdAt' | 'startedAt' | 'updatedAt'

export type ListOptions = {
  readonly order: ListOrder
  /** Whether the traces are of several namespaces. */
  readonly hasNamespaces: boolean
  /** In milliseconds since 1970. */
  readonly now: number
  /** What the margin says of a trace instead of its time; its day stands below. Default: nothing. */
  readonly markOf?: (trace: FeedTrace) => string
}

/** When a session began, in milliseconds since 1970; when it was uploaded if the client gave no valid time, or one that is too far ahead. */
export const timeOf = ({ startedAt, createdAt }: FeedTrace): number =>
  timeOrArrival(isoText(startedAt) === undefined ? undefined : startedAt, createdAt)

/** Says that times of a session are too far ahead. */
export const aheadHtml = (trace: FeedTrace): Html =>
  isSessionAhead(trace)
    ? markup`<span class="tag" title="Its times are more than two days ahead of the clock of the service">${AHEAD}</span>`
    : none

const lengthOf = (trace: FeedTrace): Html => {
  const length = rowLength(trace)
  return length === undefined ? none : markup`<small>${length}</small>`
}

/** The numbers of a session: prompts, calls, failures and changed lines. */
const countsOf = (trace: FeedTrace): Html => {
  const { words, failed, lines } = rowCounts(trace)
  return markup`${words.map((one) => markup`<span>${one}</span>`)}${failed === undefined ? none : markup`<span class="bad">${failed}</span>`}${
    lines
      ? markup`<span><span class="plus">${lines.added}</span> <span class="minus">${lines.removed}</span></span>`
      : none
  }`
}

export const authorHtml = ({ author, visibility }: FeedTrace): Html => {
  const name = author?.displayName === undefined ? none : markup`<bdi>${visibleLine(author.displayName)}</bdi>`
  const tag = visibility === 'public' ? markup`<span class="tag ink">${icon('public')}public</span>` : none
  return name === none && tag === none ? none : markup`<span>${name}${tag}</span>`
}

export const placeHtml = ({ projectName, gitBranch }: FeedTrace): Html => {
  const place = [projectName, gitBranch].flatMap((text) => (text === undefined ? [] : [visibleLine(text)])).join(' @ ')
  return place === '' ? none : markup`<span class="on">${icon('branch')}<code dir="auto">${place}</code></span>`
}

/** The link to the sub-agents of a session, which a list leaves out. */
const belowHtml = ({ namespace, externalId, childCount = 0 }: FeedTrace): Html =>
  childCount === 0
    ? none
    : markup`<a class="below" href="${subAgentsPath(namespace.slug, externalId)}">+${subAgentsText(childCount)}</a>`

/** The time of a session in a list, in milliseconds since 1970. */
const timeIn = (trace: FeedTrace, order: ListOrder): number =>
  order === 'updatedAt' ? (trace.updatedAt ?? trace.createdAt) : timeOf(trace)

const item = (trace: FeedTrace, { order, hasNamespaces, now, markOf }: ListOptions): Html => {
  const { namespace, externalId, shape } = trace
  const path = tracePath(namespace.slug, externalId)
  const at = timeIn(trace, order)
  const iso = new Date(at).toISOString()
  const time =
    order === 'createdAt'
      ? markup`<time datetime="${iso}" data-shows="day">${shortDay(at, now)}</time>`
      : markup`<time datetime="${iso}" data-shows="time">${iso.slice(11, 16)}</time>`
  const agent = agentAndModel(trace)
  const until = runsUntil(trace)
  const isNow = until > now
  return markup`<li class="${isNow ? 'now' : 'then'}" data-trace="${path}"${isNow ? markup` data-until="${until}"` : none}><div class="at">${markOf ? markup`<b>${markOf(trace)}</b><small>${time}</small>` : markup`${time}${lengthOf(trace)}`}</div>
<div class="in"><a class="name" href="${path}" dir="auto">${listedTitleOf(new Map(Object.entries(trace)))}</a><div class="meta">
${isNow ? markup`<span class="live">running</span>` : none}${hasNamespaces ? markup`<a class="ns" href="${namespacePath(namespace.slug)}"><bdi>@${namespace.slug}</bdi></a>` : none}
${authorHtml(trace)}${aheadHtml(trace)}${agent === '' ? none : markup`<span><bdi>${agent}</bdi></span>`}${belowHtml(trace)}${placeHtml(trace)}</div></div>
<div class="end">${shape && shape.segments.length > 0 ? strip(shape.segments) : none}<div class="meta">${countsOf(trace)}</div></div></li>
`
}

/** Traces in the order of a list. */
export const traceList = (traces: readonly FeedTrace[], options: ListOptions): Html =>
  options.order === 'createdAt'
    ? markup`<ol class="list traces">
${traces.map((trace) => item(trace, options))}</ol>
`
    : dividedByDays(traces, options)

/** The link to the next page of a list. */
export const moreLink = (href: string, label: string): Html =>
  markup`<p class="more-link"><a class="btn" rel="next" href="${href}">${label}</a></p>\n`

/** The link to the page with older sessions. */
export const olderLink = (
  path: string,
  query: Readonly<Record<string, string>>,
  nextCursor: string | undefined,
): Html =>
  nextCursor === undefined
    ? none
    : moreLink(`${path}?${new URLSearchParams({ ...query, cursor: nextCursor }).toString()}`, 'Older sessions')

const dividedByDays = (traces: readonly FeedTrace[], options: ListOptions): Html => {
  const days = new Map<string, { readonly heading: Html; readonly items: Html[] }>()
  for (const trace of traces) {
    const { key, heading } = dayOf(timeIn(trace, options.order), options.now)
    const day = days.get(key) ?? { heading, items: [] }
    days.set(key, day)
    day.items.push(item(trace, options))
  }
  return markup`${[...days.values()].map(
    ({ heading, items }) => markup`<section class="of-day"><h2 class="day">${heading}</h2><ol class="list traces">
${items}</ol></section>
`,
  )}`
}
