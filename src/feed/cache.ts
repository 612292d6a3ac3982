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

/** A page, the checkpoint of the snapshot that it was read from, and what it shows. */
type Filled = { readonly page: PublicPage; readonly position: bigint; readonly about: ReadonlySet<string> }

const toFilled = ({ rows, entries, body }: FilledPage): Filled => {
  const position = (rows[0] as { position?: bigint } | undefined)?.position ?? -1n
  return { page: { entries, body }, position, about: aboutOf(rows) }
}

/**
 * An event says exactly when a cached answer is stale. A page is kept with the checkpoint of the snapshot that it was
 * read from, and only if no event behind that checkpoint has touched it meanwhile (architecture: Projections, Caches).
 * `isAlive` is false while this node hears nothing of the log: then nothing is served from here, or kept.
 */
export const newFeedCache = (isAlive: () => boolean): FeedCache => {
  const entries = new Map<number, Filled>()
  const filling = new Map<number, Promise<Filled>>()
  let recent: Seen[] = []
  let forgotten = 0n
  let clearings = 0

  const touches = (about: ReadonlySet<string>, seen: Seen) => seen.reorders || about.has(seen.of)

  const isStale = ({ position, about }: Filled) =>
    position < forgotten || recent.some((seen) => seen.position > position && touches(about, seen))

  const keep = (limit: number, filled: Filled) => {
    if (isStale(filled)) return
    if (entries.size >= MAX_ENTRIES) entries.clear()
    entries.set(limit, filled)
  }

  const start = (limit: number, fill: () => Promise<FilledPage>): Promise<Filled> => {
    const [before, mayKeep] = [clearings, isAlive()]
    const work = async () => {
      const filled = toFilled(await fill())
      if (mayKeep && clearings === before) keep(limit, filled)
      return filled
    }
    const started = work().finally(() => {
      if (filling.get(limit) === started) filling.delete(limit)
    })
    filling.set(limit, started)
    return started
  }

  const ask = async (limit: number, fill: () => Promise<FilledPage>): Promise<PublicPage> => {
    const running = filling.get(limit)
    if (!running) return (await start(limit, fill)).page
    // It began before this request, so it may have missed what was answered in between; a later one cannot have.
    const filled = await running
    if (!isStale(filled)) return filled.page
    const later = filling.get(limit) ?? start(limit, fill)
    return (await later).page
  }

  const get: FeedCache['get'] = (limit, fill) => {
    const entry = isAlive() ? entries.get(limit) : undefined
    return entry ? entry.page : ask(limit, fill)
  }

  const observe = (event: Happened) => {
    const seen = { position: event.position, of: event.of, reorders: reorders(event) }
    recent.push(seen)
    if (recent.length > 2 * REMEMBERED) {
      forgotten = recent[REMEMBERED - 1]!.position
      recent = recent.slice(REMEMBERED)
    }
    for (const [limit, { about }] of entries) if (touches(about, seen)) entries.delete(limit)
  }

  const clear = () => {
    clearings += 1
    entries.clear()
    filling.clear()
  }

  return { get, observe, clear }
}
