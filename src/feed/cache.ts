import { PUBLIC_TRACES, tracesIn } from '../effects.ts'
import { newRecentChanges } from '../engine/recent-changes.ts'
import { type FeedPage, type Filled, newPages } from './pages.ts'
import type { FeedRow } from './queries.ts'

/** Which first page: the public one, or that of a namespace with all its traces. */
export type PageKey = { readonly limit: number; readonly namespaceId?: string }

/** A page with the rows that it was made of. */
export type FilledPage = Omit<FeedPage, 'topics'> & { readonly rows: readonly FeedRow[] }

/** First pages, as many as memory allows: those that were asked for last. */
export type FeedCache = {
  /** What is cached, or what `fill` gives; concurrent callers share one fill. */
  get(key: PageKey, fill: () => Promise<FilledPage>): Promise<FeedPage> | FeedPage
  /** Drops what an event makes stale, given the topics that it changes. Called before its write is answered. */
  observe(event: { readonly position: bigint; readonly topics: readonly string[] }): void
  clear(): void
  /** The same for a log in another epoch: positions begin anew. */
  restart(): void
}

const REMEMBERED = 1_000

const PUBLIC = 'public'

/** Everything that a page shows, and what would show more: an event about any of it makes the page stale. */
const topicsOfPage = ({ namespaceId }: PageKey, rows: readonly FeedRow[]): Set<string> => {
  const topics = new Set([namespaceId === undefined ? PUBLIC_TRACES : tracesIn(namespaceId)])
  for (const row of rows) {
    topics.add(row.id).add(row.namespace_id)
    if (row.author_id) topics.add(row.author_id)
  }
  return topics
}

const toFilled = (key: PageKey, { rows, ...page }: FilledPage): Filled => {
  const position = (rows[0] as { position?: bigint } | undefined)?.position ?? -1n
  return { page: { ...page, topics: topicsOfPage(key, rows) }, position }
}

/**
 * An event says exactly when a cached answer is stale. A page is kept with the checkpoint of the snapshot that it was
 * read from, and only if no event behind that checkpoint has touched it meanwhile. `isAlive` is false while this node
 * hears nothing of the log: then nothing is served from here, or kept.
 */
export const newFeedCache = (isAlive: () => boolean): FeedCache => {
  const pages = newPages()
  const filling = new Map<string, Promise<Filled>>()
  const changes = newRecentChanges<readonly string[]>(REMEMBERED)
  let clearings = 0

  const isStale = ({ position, page: { topics } }: Filled) =>
    changes.since(position, (changed) => changed.some((topic) => topics.has(topic))) !== 'unchanged'

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
    const before = clearings
    if (!running) return (await start(name, key, fill)).page
    // It began before this request, so it may have missed what was answered in between; a later one cannot have.
    const filled = await running
    if (clearings === before && !isStale(filled)) return filled.page
    const later = filling.get(name) ?? start(name, key, fill)
    return (await later).page
  }

  const get: FeedCache['get'] = (key, fill) => {
    const name = `${key.limit} ${key.namespaceId ?? PUBLIC}`
    const filled = isAlive() ? pages.get(name) : undefined
    return filled ? filled.page : ask(name, key, fill)
  }

  const observe: FeedCache['observe'] = ({ position, topics }) => {
    changes.note(position, topics)
    for (const topic of topics) pages.drop(topic)
  }

  const clear = () => {
    clearings += 1
    pages.clear()
    filling.clear()
  }

  const restart = () => {
    changes.restart()
    clear()
  }

  return { get, observe, clear, restart }
}
