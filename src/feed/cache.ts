import type { DecodedEvent } from '../engine/projection.ts'
import { type FeedPage, type Filled, newPages } from './pages.ts'
import type { FeedRow } from './queries.ts'

/** Which first page: the public one, or that of a namespace with all its traces. */
export type PageKey = { readonly limit: number; readonly namespaceId?: string }

/** A page with the rows that it was made of. */
export type FilledPage = FeedPage & { readonly rows: readonly FeedRow[] }

/** First pages, as many as memory allows: those that were asked for last. */
export type FeedCache = {
  /** What is cached, or what `fill` gives; concurrent callers share one fill. */
  get(key: PageKey, fill: () => Promise<FilledPage>): Promise<FeedPage> | FeedPage
  /** Drops what an event makes stale. Called for every event before its write is answered. */
  observe(event: DecodedEvent): void
  clear(): void
}

const REMEMBERED = 1_000

const PUBLIC = 'public'
const newIn = (namespaceId: string) => `new in ${namespaceId}`

/** What an event is about: whom or what it changes, and which pages a trace may enter or leave by it. */
const topicsOfEvent = (event: DecodedEvent): string[] => {
  const { type, streamId } = event
  if (type === 'TraceCreated') {
    const { namespaceId, visibility } = event.data as { namespaceId: string; visibility: string }
    return visibility === 'public' ? [streamId, newIn(namespaceId), PUBLIC] : [streamId, newIn(namespaceId)]
  }
  if (type !== 'TraceUpdated') return [streamId]
  return (event.data as { patch: { path: string }[] }).patch.some(({ path }) => path === '/visibility')
    ? [streamId, PUBLIC]
    : [streamId]
}

/** Everything that a page shows, and what would show more: an event about any of it makes the page stale. */
const topicsOfPage = ({ namespaceId }: PageKey, rows: readonly FeedRow[]): Set<string> => {
  const topics = new Set([namespaceId === undefined ? PUBLIC : newIn(namespaceId)])
  for (const row of rows) {
    topics.add(row.id).add(row.namespace_id)
    if (row.author_id) topics.add(row.author_id)
  }
  return topics
}

type Seen = { readonly position: bigint; readonly topics: readonly string[] }

const toFilled = (key: PageKey, { rows, ...page }: FilledPage): Filled => {
  const position = (rows[0] as { position?: bigint } | undefined)?.position ?? -1n
  return { page, position, topics: topicsOfPage(key, rows) }
}

/**
 * An event says exactly when a cached answer is stale. A page is kept with the checkpoint of the snapshot that it was
 * read from, and only if no event behind that checkpoint has touched it meanwhile. `isAlive` is false while this node
 * hears nothing of the log: then nothing is served from here, or kept.
 */
export const newFeedCache = (isAlive: () => boolean): FeedCache => {
  const pages = newPages()
  const filling = new Map<string, Promise<Filled>>()
  let recent: Seen[] = []
  let forgotten = 0n
  let clearings = 0

  const isStale = ({ position, topics }: Filled) => {
    if (position < forgotten) return true
    for (let i = recent.length - 1; i >= 0 && recent[i]!.position > position; i--)
      if (recent[i]!.topics.some((topic) => topics.has(topic))) return true
    return false
  }

  const start = (name: string, key: PageKey, fill: () => Promise<FilledPage>): Promise<Filled> => {
    const [before, mayKeep] = [clearings, isAlive()]
    const work = async () => {
      const filled = toFilled(key, await fill())
      if (mayKeep && clearings === before && !isStale(filled)) pages.set(name, filled)
      return filled
    }
    const started = work().finally(() => {
      if (filling.get(name) === started) filling.delete(name)
    })
    filling.set(name, started)
    return started
  }

  const ask = async (name: string, key: PageKey, fill: () => Promise<FilledPage>): Promise<FeedPage> => {
    const running = filling.get(name)
    if (!running) return (await start(name, key, fill)).page
    // It began before this request, so it may have missed what was answered in between; a later one cannot have.
    const filled = await running
    if (!isStale(filled)) return filled.page
    const later = filling.get(name) ?? start(name, key, fill)
    return (await later).page
  }

  const get: FeedCache['get'] = (key, fill) => {
    const name = `${key.limit} ${key.namespaceId ?? PUBLIC}`
    const filled = isAlive() ? pages.get(name) : undefined
    return filled ? filled.page : ask(name, key, fill)
  }

  const observe = (event: DecodedEvent) => {
    const seen = { position: event.position, topics: topicsOfEvent(event) }
    recent.push(seen)
    if (recent.length > 2 * REMEMBERED) {
      forgotten = recent[REMEMBERED - 1]!.position
      recent = recent.slice(REMEMBERED)
    }
    for (const topic of seen.topics) pages.drop(topic)
  }

  const clear = () => {
    clearings += 1
    pages.clear()
    filling.clear()
  }

  return { get, observe, clear }
}
