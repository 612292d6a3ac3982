import { pause, orAborted } from '../../../base/waits.ts'
import { type Batch, type EventLog, LogChanged, type StoredRecord } from '../log.ts'
import type { EpochGuard } from './epoch-guard.ts'
import type { SharedRead, SharedReads } from './shared-reads.ts'
import type { WakeUps } from './wake-ups.ts'

type FollowOptions = {
  readonly guard: Pick<EpochGuard, 'assertSame' | 'noteRead'>
  readonly sharedReads: Pick<SharedReads, 'after' | 'joined'>
  readonly wakeUps: Pick<WakeUps, 'changed' | 'found' | 'restart'>
  /** Ends all followers. */
  readonly closing: AbortSignal
}

const POLL_MS = 400
const RETRY_MS = 200
const BATCH_EVENTS = 1_000

/** Cuts a page into batches of the size that followers of a log in PostgreSQL get. */
function* batchesOf({ events, through }: Batch<StoredRecord>): Generator<Batch<StoredRecord>> {
  for (let start = 0; start === 0 || start < events.length; start += BATCH_EVENTS) {
    const some = events.slice(start, start + BATCH_EVENTS)
    yield { events: some, through: start + BATCH_EVENTS < events.length ? some.at(-1)!.position : through }
  }
}

/** Follows the log page by page. The next page is read while the follower works on one; at the log's end wake-ups are awaited. */
export const newFollow = (options: FollowOptions): EventLog<StoredRecord>['follow'] => {
  const { guard, sharedReads, wakeUps, closing } = options

  /** Whether the epoch is the same; false while the log cannot be reached. @throws LogChanged */
  const isSame = async (): Promise<boolean> => {
    try {
      await guard.assertSame()
      return true
    } catch (error) {
      if (error instanceof LogChanged) throw error
      return false
    }
  }

  return async function* ({ after, signal }) {
    const end = AbortSignal.any([signal, closing])
    let position = after
    let isWoken: boolean | undefined // undefined before the end was reached, and between two pages
    let next: SharedRead | undefined
    try {
      while (!end.aborted) {
        const read = next ?? sharedReads.after(position)
        next = undefined
        const found = await orAborted(read.page, end)
        if (end.aborted) return read.leave()
        // Also after a failed read: if the log has lost its end, there may be no record at this position any more.
        const usable = (await isSame()) ? found : undefined
        const joined = usable && sharedReads.joined({ page: usable, seen: read.seen }, BATCH_EVENTS)
        const page = joined?.page
        guard.noteRead(page?.events.at(-1)) // one that is not kept was not noted when it was read
        // The next page is read while the follower works on this one.
        next = page && !page.isLast ? sharedReads.after(page.through, page.isSparse) : undefined
        if (page) {
          const isOwn = page.events.length > 0
          if (isWoken === false && isOwn) wakeUps.restart()
          if (isWoken && (isOwn || page.through > position)) wakeUps.found(isOwn ? 'own' : 'others')
          position = page.through
          yield* batchesOf(page) // also an empty page: it shows the follower that the log answers
        }
        if (!page) await pause(RETRY_MS, end)
        isWoken = joined?.page.isLast ? await wakeUps.changed(joined.seen, POLL_MS, end) : undefined
      }
    } finally {
      next?.leave()
    }
  }
}
