import type { Happened } from '../engine/projection.ts'
import type { FeedEntry, FeedRow } from './queries.ts'

/** The first page of the public feed: its entries, and the anonymous answer as ready bytes. */
export type PublicPage = { readonly entries: readonly FeedEntry[]; readonly body: Buffer }

/** A page with the rows that it was made of. */
export type FilledPage = PublicPage & { readonly rows: readonly FeedRow[] }

/** First pages of the public feed, one for each `limit`. */
export type FeedCache = {
  /** What is cached, or what `fill` gives; concurrent callers share one fill. */
  get(limit: number, fill: () => Promise<FilledPage>): Promise<PublicPage> | PublicPage
  /** Drops what an event makes stale. Called for every event before its write is answered. */
  observe(event: Happened): void
  clear(): void
}

type Entry = { readonly page: PublicPage; readonly about: ReadonlySet<string> }
type Seen = { readonly position: bigint; readonly of: string; readonly reorders: boolean }

const MAX_ENTRIES = 64
const REMEMBERED = 1_000

/** Whether an event may bring a trace into the public feed, or take one out. */
const reorders = (event: Happened): boolean => {
  if (event.type === 'TraceCreated') return (event.data as { visibility: string }).visibility === 'public'
  if (event.type !== 'TraceUpdated') return false
  return (event.data as { patch: { path: string }[] }).patch.some(({ path }) => path === '/visibility')
}

/** Everything that a page shows: an event about any of it makes the page stale. */
const aboutOf = (rows: readonly FeedRow[]): Set<string> => {
  const about = new Set<string>()
  for (const row of rows) {
    about.add(row.id).add(row.namespace_id)
    if (row.author_id) about.add(row.author_id)
  }
  return about
}

/**
 * An event says exactly when a cached answer is stale. A page is kept with the checkpoint of the snapshot that it was
 * read from, and only if no event behind that checkpoint has touched it meanwhile (architecture: Projections, Caches).
 * `isAlive` is false while this node hears nothing of the log: then nothing is served from here.
 */
export const newFeedCache = (isAlive: () => boolean): FeedCache => {
  const entries = new Map<number, Entry>()
  const filling = new Map<number, Promise<PublicPage>>()
  let recent: Seen[] = []
  let forgotten = 0n
  let clearings = 0

  const touches = (about: ReadonlySet<string>, seen: Seen) => seen.reorders || about.has(seen.of)

  const keep = (limit: number, { rows, entries: shown, body }: FilledPage) => {
    const position = (rows[0] as { position?: bigint } | undefined)?.position ?? -1n
    const about = aboutOf(rows)
    if (position < forgotten) return
    if (recent.some((seen) => seen.position > position && touches(about, seen))) return
    if (entries.size >= MAX_ENTRIES) entries.clear()
    entries.set(limit, { page: { entries: shown, body }, about })
  }

  const get: FeedCache['get'] = (limit, fill) => {
    const entry = isAlive() ? entries.get(limit) : undefined
    if (entry) return entry.page
    const running = filling.get(limit)
    if (running) return running
    const before = clearings
    const filled = fill()
      .then((page) => {
        if (clearings === before) keep(limit, page)
        return page
      })
      .finally(() => {
        if (filling.get(limit) === filled) filling.delete(limit)
      })
    filling.set(limit, filled)
    return filled
  }

  const observe = (event: Happened) => {
    const seen = { position: event.position, of: event.of, reorders: reorders(event) }
    recent.push(seen)
    if (recent.length > 2 * REMEMBERED) {
      forgotten = recent[REMEMBERED - 1]!.position
      recent = recent.slice(REMEMBERED)
    }
    filling.clear() // a fill that began before this event is not for those who ask after it
    for (const [limit, { about }] of entries) if (touches(about, seen)) entries.delete(limit)
  }

  const clear = () => {
    clearings += 1
    entries.clear()
    filling.clear()
  }

  return { get, observe, clear }
}
