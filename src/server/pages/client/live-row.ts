import { subAgentsText } from '../../../base/sub-agents.ts'
import type { FeedTrace } from '../../../contract/feed.ts'
import { listedTitleOf } from '../../../transcript/head.ts'
import { stripTicks } from '../../../transcript/html/ticks.ts'
import { rowCounts, rowLength, runsUntil } from '../row-facts.ts'
import { drawing, element } from './dom.ts'
import { subAgentsPath } from './paths.ts'

/** Shows how many sub-agents a session has. */
const showSubAgents = (row: HTMLElement, { namespace, externalId, childCount = 0 }: FeedTrace): void => {
  const shown = row.querySelector('.below')
  if (childCount === 0) return shown?.remove()
  const text = `+${subAgentsText(childCount)}`
  if (shown?.textContent === text) return
  const link = element('a', { class: 'below', href: subAgentsPath(namespace.slug, externalId) }, text)
  if (shown) return shown.replaceWith(link)
  const meta = row.querySelector('.in .meta')
  meta?.insertBefore(link, meta.querySelector('.on'))
}

const strip = (segments: NonNullable<FeedTrace['shape']>['segments']): SVGElement => {
  const { ticks, width, height } = stripTicks(segments)
  const svg = drawing('svg', {
    ...{ class: 'strip', viewBox: `0 0 ${width} ${height}`, width, height },
    ...{ preserveAspectRatio: 'xMinYMax meet', 'aria-hidden': 'true' },
  })
  svg.append(...ticks.map(({ kind, ...rest }) => drawing('rect', { class: kind, rx: 1, ...rest })))
  return svg
}

const counts = (trace: FeedTrace): HTMLElement => {
  const { words, failed, lines } = rowCounts(trace)
  const meta = element('div', { class: 'meta' }, ...words.map((one) => element('span', {}, one)))
  if (failed !== undefined) meta.append(element('span', { class: 'bad' }, failed))
  if (lines) {
    const [added, removed] = [
      element('span', { class: 'plus' }, lines.added),
      element('span', { class: 'minus' }, lines.removed),
    ]
    meta.append(element('span', {}, added, ' ', removed))
  }
  return meta
}

/** Shows whether a session is running, and remembers until when it is. */
const showRunning = (row: HTMLElement, until: number, now: number): void => {
  const isNow = until > now
  row.className = isNow ? 'now' : 'then'
  row.dataset['until'] = String(until)
  const shown = row.querySelector('.live')
  if (!isNow) shown?.remove()
  else if (!shown) row.querySelector('.in .meta')?.prepend(element('span', { class: 'live' }, 'running'))
}

/** Ends the sessions in rows whose time to run is over. Returns when the next one is, in milliseconds since 1970; undefined if none is running. */
export const endRows = (now: number): number | undefined => {
  let next: number | undefined
  for (const row of document.querySelectorAll<HTMLElement>('li.now[data-until]')) {
    const until = Number(row.dataset['until'])
    showRunning(row, until, now)
    if (until > now) next = Math.min(until, next ?? until)
  }
  return next
}

/** Shows in a row what has changed of its session: as the service would, but for the place of the row. */
export const showRow = (row: HTMLElement, trace: FeedTrace, now: number): void => {
  showSubAgents(row, trace)
  showRunning(row, runsUntil(trace), now)
  const name = row.querySelector('.name')
  const title = listedTitleOf(new Map(Object.entries(trace)))
  if (name && name.textContent !== title) name.textContent = title
  const [length, margin] = [rowLength(trace), row.querySelector('.at')]
  const shown = margin?.querySelector('small')
  if (length === undefined) shown?.remove()
  else if (shown) shown.textContent = length
  else margin?.append(element('small', {}, length))
  const { segments = [] } = trace.shape ?? {}
  row.querySelector('.end')?.replaceChildren(...(segments.length > 0 ? [strip(segments)] : []), counts(trace))
}
