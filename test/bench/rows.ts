import { auditVerify } from './audit-verify.ts'
import { copies } from './copies.ts'
import { disk } from './disk.ts'
import { feedPublic, feedSession } from './feed.ts'
import { hostileMinute } from './hostile.ts'
import { ingest } from './ingest.ts'
import { logAppend, logAppendSnapshot } from './log-append.ts'
import { type Measure, type Named, type Setting, atMost, between, bodies } from './measure.ts'
import { messagePage } from './message-page.ts'
import { put } from './message-put.ts'
import { realtimePush } from './realtime-push.ts'
import { rebuild } from './rebuild.ts'
import { roundTrips } from './round-trips.ts'
import { searchIndex, searchQuery } from './search.ts'
import { searchRare } from './search-rare.ts'
import { syncAgain, syncFirst, syncRedacted } from './sync.ts'
import { timeTravel } from './time-travel.ts'
import { attributionLag, timelineLag } from './timeline-lag.ts'
import { webDeepLink, webScroll } from './web-long.ts'
import { webPage } from './web-page.ts'
import { usage } from './usage.ts'
import { attribution } from './attribution.ts'
import { attributionQuestion } from './attribution-question.ts'
import { bareBatches } from './yardsticks.ts'

/**
 * Messages a second in batches, and what a message takes of the one thread that all of them pass. For its first seconds a service is busy
 * compiling: they are a row of their own.
 */
const batchIngest = async ({ world, ms }: Setting): Promise<readonly Named[]> => {
  const taken = { us: 0, kilobytes: 0 }
  const first = await ingest(world, ms)
  const measured = await between(
    () => bareBatches(world.databaseUrl, bodies, ms / 2),
    async () => {
      const before = await world.mainThread()
      const value = await ingest(world, ms)
      const { us, promoted } = await world.mainThread()
      const messages = (value * ms) / 1_000
      taken.us = (us - before.us) / messages
      taken.kilobytes = (promoted - before.promoted) / 1_000 / messages
      return value
    },
  )
  return [
    { name: 'batch-ingest', unit: 'messages/s', ...measured },
    { name: 'batch-ingest: at first', unit: 'messages/s', value: first, yardstick: measured.yardstick },
    atMost('batch-ingest: main thread', 'µs/message', taken.us, 20),
    atMost('batch-ingest: promoted', 'kB/message', taken.kilobytes, 2),
  ]
}

/** What `npm run bench` measures, in this order. */
export const rows: readonly Measure[] = [
  { name: 'log-append', unit: 'events/s', measure: logAppend },
  { name: 'log-append-snapshot', unit: 'events/s', measure: logAppendSnapshot },
  { name: 'batch-ingest', unit: '', measure: batchIngest },
  { name: 'message-put', unit: 'requests/s', measure: put((i) => `trace-${i}`) },
  { name: 'message-put-one', unit: 'requests/s', measure: put(() => 'trace') },
  { name: 'message-page', unit: 'pages/s', measure: messagePage },
  { name: 'feed-public', unit: '', measure: feedPublic },
  { name: 'feed-session', unit: 'requests/s', measure: feedSession },
  { name: 'realtime-push', unit: '', measure: realtimePush },
  { name: 'timeline-lag', unit: '', measure: timelineLag },
  { name: 'search-index', unit: '', measure: searchIndex },
  { name: 'search-query', unit: '', measure: searchQuery },
  { name: 'search-rare', unit: '', measure: searchRare },
  { name: 'usage', unit: '', measure: usage },
  { name: 'attribution', unit: '', measure: attribution },
  { name: 'attribution-lag', unit: '', measure: attributionLag },
  { name: 'attribution-question', unit: '', measure: attributionQuestion },
  { name: 'time-travel', unit: '', measure: timeTravel },
  { name: 'rebuild', unit: 'events/s', measure: rebuild },
  { name: 'audit-verify', unit: '', measure: auditVerify },
  { name: 'copies', unit: '', measure: copies },
  { name: 'disk', unit: '', measure: disk },
  { name: 'web-page', unit: '', measure: webPage },
  { name: 'web-scroll', unit: '', measure: webScroll },
  { name: 'web-deep-link', unit: '', measure: webDeepLink },
  { name: 'sync-first', unit: '', measure: syncFirst },
  { name: 'sync-again', unit: '', measure: syncAgain },
  { name: 'sync-redacted', unit: '', measure: syncRedacted },
  { name: 'round-trips', unit: '', measure: roundTrips },
  ...hostileMinute,
]
