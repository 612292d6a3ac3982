import type { Entry } from '../../contract/history.ts'
import { icon } from '../../transcript/html/icons.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { eventProofPath, evidencePath, traceTimelinePath } from './links.ts'
import type { Page } from './page.ts'
import { entriesByDays, olderEntries } from './timeline.ts'
import { type NamedTrace, traceCrumbs } from './trace-actions.ts'

/** How far signed checkpoints cover the events of a trace. */
export type ShownCoverage =
  | { readonly is: 'unsigned' }
  /** None covers an event yet. Times are in seconds: after these one may. */
  | { readonly is: 'none'; readonly retryAfter: number }
  | {
      readonly is: 'covered'
      /** The newest checkpoint: its size, and the key that has signed it. */
      readonly checkpoint: { readonly size: number; readonly key: string }
      /** The revision of the last event that it covers. */
      readonly through: bigint
      /** Undefined if it covers all events. */
      readonly retryAfter: number | undefined
    }

const seconds = (count: number): string => `${count} ${count === 1 ? 'second' : 'seconds'}`

/** What is not proved: says why, and when to load the page at `path` again. */
export const uncoveredNote = (coverage: ShownCoverage, path: string): Html => {
  if (coverage.is === 'unsigned')
    return markup`<p class="note warn" role="status">${icon('warning')}<span><b>This service signs no checkpoints</b>, so nothing of its log can be proved. Its operator has set no key: <code>AUDIT_KEY</code>.</span></p>\n`
  if (coverage.retryAfter === undefined) return none
  const what =
    coverage.is === 'none'
      ? 'No signed checkpoint covers this session yet'
      : 'Its newest events are not in a signed checkpoint yet'
  return markup`<p class="note warn" role="status">${icon('clock')}<span>${what}. <a href="${path}">Try again</a> in ${seconds(coverage.retryAfter)}.</span></p>\n`
}

type TraceTimelineView = {
  readonly trace: NamedTrace
  readonly coverage: ShownCoverage
  readonly events: readonly Entry[]
  readonly nextCursor: string | undefined
  readonly now: number
}

const proofOf = ({ trace: { slug, externalId }, coverage }: TraceTimelineView, { revision }: Entry): Html =>
  coverage.is === 'covered' && revision <= coverage.through
    ? markup`<span class="meta"><a href="${eventProofPath(slug, externalId, revision)}">Proof of event ${revision}</a></span>`
    : none

/** `/@{slug}/{externalId}/-/timeline`: who did what to a session, newest first, with the proof of each entry. */
export const traceTimelinePage = (view: TraceTimelineView): Page => {
  const { trace, coverage, events, nextCursor, now } = view
  const { slug, externalId } = trace
  const older = nextCursor === undefined ? undefined : traceTimelinePath(slug, externalId, nextCursor)
  return {
    title: 'Timeline of this session',
    name: 'trace-timeline',
    heading: markup`${traceCrumbs(trace)}<h1>Timeline of this session</h1>\n`,
    layout: 'wide',
    content: markup`<p>A proof leads from an event of the log to a signed checkpoint. An entry of several messages has that of its last event; <a href="${evidencePath(slug, externalId)}">evidence</a>, one file, has all of them.</p>
${uncoveredNote(coverage, traceTimelinePath(slug, externalId))}${entriesByDays(events, now, (entry) => ({ end: proofOf(view, entry) }))}${olderEntries(older)}`,
  }
}
