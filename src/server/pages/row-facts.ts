import { sessionLengthText } from '../../base/for-people.ts'
import { isSessionAhead } from '../../base/time-ahead.ts'
import type { FeedTrace } from '../../contract/feed.ts'
import { isoText } from '../../transcript/times.ts'

/** What a row of a list says of a session, for the service, which makes rows, and for scripts, which keep them up to date. */

/** How long a session took, short enough for the margin: `18 s`, `11 min` or `2 h 41 m`. */
const shortElapsedText = (ms: number): string => {
  const minutes = Math.floor(ms / 60_000)
  if (minutes === 0) return `${Math.floor(ms / 1_000)} s`
  if (minutes < 60) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} m`
}

/** How long a session took; undefined if that is not known, or less than a second. */
export const rowLength = (trace: FeedTrace): string | undefined => {
  const { startedAt, endedAt } = trace
  const isKnown = isoText(startedAt) !== undefined && isoText(endedAt) !== undefined && !isSessionAhead(trace)
  return !isKnown || endedAt! - startedAt! < 1_000
    ? undefined
    : sessionLengthText(endedAt! - startedAt!, shortElapsedText)
}

/** How long after its last message a session is shown as running. */
const RUNNING_MS = 2 * 60_000

/** Until when a session is shown as running, in milliseconds since 1970. */
export const runsUntil = ({ endedAt, updatedAt }: FeedTrace): number =>
  Math.min(endedAt ?? -Infinity, updatedAt ?? -Infinity) + RUNNING_MS

export const plural = (count: number, word: string): string =>
  `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`

/** The numbers of a session in words: prompts, calls and failures, and the changed lines. */
export const rowCounts = ({ shape, messageCount }: Pick<FeedTrace, 'shape' | 'messageCount'>) => {
  const { prompts = 0, calls = 0, failed = 0, added = 0, removed = 0 } = shape ?? {}
  if (prompts + calls === 0) return { words: [plural(messageCount ?? 0, 'message')] }
  return {
    words: [plural(prompts, 'prompt'), ...(calls === 0 ? [] : [plural(calls, 'call')])],
    failed: failed === 0 ? undefined : `${failed.toLocaleString('en')} failed`,
    lines:
      added + removed === 0
        ? undefined
        : { added: `+${added.toLocaleString('en')}`, removed: `−${removed.toLocaleString('en')}` },
  }
}
