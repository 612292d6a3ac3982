import type { Linked } from '../agents/session-files.ts'
import type { LeftOut } from '../report/events.ts'
import { linksLeftOut } from '../report/text.ts'
import { newAgenda } from './agenda.ts'
import { type Change, type Changes, newChanges } from './changes.ts'
import type { Searched } from './places.ts'
import { newWatchedFolders, type WatchFolder } from './watched-folders.ts'

/** The share of the time that scans may take. While the system reports changes, scans only find those that it has missed. */
const SHARE = { watched: 1 / 250, unwatched: 1 / 50 }
const SHORTEST_MS = { watched: 10_000, unwatched: 1_500 }
const LONGEST_MS = 10 * 60_000

/** How long after a scan that took `costMs` the next one is due. `isWatched`: the system reports changes in all folders. */
export const scanIntervalMs = (costMs: number, isWatched: boolean): number => {
  const kind = isWatched ? 'watched' : 'unwatched'
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS[kind], costMs / SHARE[kind]))
}

/** How many changes go into one round, and how many of these at most are not fresh while some are. */
const ROUND = 50
const NOT_FRESH = 10

/** The changes that wait for their upload, the latest one of each session. */
type Waiting = {
  /** Adds a change that the system has just reported. */
  readonly addFresh: (change: Change) => void
  /** Adds a change that a scan has found, or that could not be uploaded. */
  readonly add: (change: Change) => void
  /** Removes and returns the changes to upload next, fresh ones first, so that they need not wait for a thousand old sessions. */
  readonly take: () => readonly Change[]
  readonly isEmpty: () => boolean
}

export const newWaiting = (): Waiting => {
  const fresh = new Map<string, Change>()
  const others = new Map<string, Change>()
  return {
    addFresh: (change) => {
      others.delete(change.stored.source)
      fresh.set(change.stored.source, change)
    },
    add: (change) => {
      const { source } = change.stored
      if (fresh.has(source)) fresh.set(source, change)
      else others.set(source, change)
    },
    take: () => {
      const first = [...fresh.values()].slice(0, ROUND)
      const rest = [...others.values()].slice(0, first.length > 0 ? NOT_FRESH : ROUND)
      for (const { stored } of first) fresh.delete(stored.source)
      for (const { stored } of rest) others.delete(stored.source)
      return [...first, ...rest]
    },
    isEmpty: () => fresh.size + others.size === 0,
  }
}

export type WatchEvent =
  /** The sessions that existed at the start are uploaded, as far as possible. */
  | { readonly type: 'watching'; readonly sessions: number; readonly folders: number }
  /** Called when it changes whether the system reports changes in all folders. If not, the folders are scanned every `everyMs`. */
  | { readonly type: 'folders'; readonly isWatched: boolean; readonly everyMs: number }
  | { readonly type: 'problem'; readonly kind: 'unreadable'; readonly file: string; readonly message: string }
  | LeftOut

/** The result of uploading some changes: those that are finished, and whether the others can be uploaded later. */
type Uploaded = {
  readonly done: ReadonlySet<Change>
  readonly isInterrupted: boolean
  /** In how many milliseconds `upload` is to be called again, also if nothing has changed, because something is left to do at the service. */
  readonly owedInMs?: number | undefined
}

export type WatchOptions = {
  readonly searched: Searched
  /** Called repeatedly, one call at a time. An error ends the watching. */
  readonly upload: (changes: readonly Change[]) => Promise<Uploaded>
  readonly report: (event: WatchEvent) => void
  /** Ends the watching. */
  readonly signal: AbortSignal
  readonly watchFolder?: WatchFolder
}

const LONGEST_REST_MS = 1_000
const FIRST_BACKOFF_MS = 1_000
const LONGEST_BACKOFF_MS = 30_000

/** Watches the folders, and reports when the system no longer reports all changes. */
const newLook = (changes: Changes, agenda: ReturnType<typeof newAgenda>, report: WatchOptions['report']) => {
  const waiting = newWaiting()
  let wasWatched = true
  const scan = async () => {
    const begin = performance.now()
    const { changes: found, isWatched } = await changes.scan()
    found.forEach(waiting.add)
    const everyMs = scanIntervalMs(performance.now() - begin, isWatched)
    if (isWatched !== wasWatched) report({ type: 'folders', isWatched, everyMs })
    wasWatched = isWatched
    agenda.scanIn(everyMs)
  }
  const look = async () => {
    const { paths, isScan } = agenda.take()
    if (isScan) await scan()
    const { changes: fresh, needsScan } = await changes.at(paths)
    fresh.forEach(waiting.addFresh)
    if (needsScan && !isScan) await scan()
  }
  return { look, waiting }
}

/**
 * Uploads the existing sessions, and then each change of a session soon after it was written. The files are the queue: a failed
 * upload is tried again after a growing delay. Resolves when `signal` is aborted. Throws the errors of `upload`.
 */
export const watchSessions = async ({ searched, upload, report, signal, watchFolder }: WatchOptions): Promise<void> => {
  const agenda = newAgenda(signal)
  const folders = newWatchedFolders({ onPath: agenda.onPath, ...(watchFolder ? { watchFolder } : {}) })
  const unreadable = (file: string, message: string) => report({ type: 'problem', kind: 'unreadable', file, message })
  const onLink = (linked: Linked) => report(linksLeftOut([linked]))
  const changes = newChanges({ searched, folders, unreadable, onLink })
  const { look, waiting } = newLook(changes, agenda, report)
  let backoffMs = FIRST_BACKOFF_MS
  let owedAt = Infinity
  const send = async (round: readonly Change[]) => {
    const begin = performance.now()
    const { done, isInterrupted, owedInMs } = await upload(round)
    owedAt = owedInMs === undefined ? Infinity : performance.now() + owedInMs
    if (owedInMs !== undefined) agenda.dueIn(owedInMs)
    done.forEach(changes.settle)
    round.filter((change) => !done.has(change)).forEach(waiting.add)
    // A session that is written all the time takes at most half of the time.
    const restMs = waiting.isEmpty() ? Math.min(LONGEST_REST_MS, performance.now() - begin) : 0
    await agenda.wait(isInterrupted ? backoffMs * (0.5 + Math.random() / 2) : restMs)
    backoffMs = isInterrupted ? Math.min(LONGEST_BACKOFF_MS, 2 * backoffMs) : FIRST_BACKOFF_MS
  }
  try {
    for (let isFirst = true; !signal.aborted;) {
      await look()
      const round = waiting.take()
      if (round.length === 0 && isFirst) {
        report({ type: 'watching', sessions: changes.sessions(), folders: folders.count() })
        isFirst = false
      }
      if (round.length > 0 || performance.now() >= owedAt) await send(round)
      else await agenda.isDue()
    }
  } finally {
    agenda.close()
    folders.close()
  }
}
