import { PUBLIC_TRACES, tracesIn } from '../effects.ts'
import { newRecentChanges } from '../engine/recent-changes.ts'
import { type FeedPage, type PageSnapshot, newPageStore } from './pages.ts'
import type { FeedRow } from './queries.ts'

/** A first page: of the public feed, or of all traces of a namespace. */
export type PageKey = { readonly limit: number; readonly namespaceId?: string }

/** A page with the rows that it was made from. */
export type ReadPage = Omit<FeedPage, 'topics'> & { readonly rows: readonly FeedRow[] }

/** A cache of first pages with bounded memory. */
export type FeedCache = {
  /** The cached page, or the result of `fill`; concurrent calls share one `fill`. */
  get(key: PageKey, fill: () => Promise<ReadPage>): Promise<FeedPage> | FeedPage
  /** Drops the pages that an event makes stale, by the topics that it changes. Called before its write is answered. */
  observe(event: { readonly position: bigint; readonly topics: readonly string[] }): void
  clear(): void
  /** The same for a log in another epoch: positions begin anew. */
  restart(): void
}

const REMEMBERED_CHANGES = 1_000

const PUBLIC = 'public'

/** The list of traces, and all traces, namespaces and authors on the page. */
const topicsOfPage = ({ namespaceId }: PageKey, rows: readonly FeedRow[]): Set<string> => {
  const topics = new Set([namespaceId === undefined ? PUBLIC_TRACES : tracesIn(namespaceId)])
  for (const row of rows) {
    topics.add(row.id).add(row.namespace_id)
    if (row.author_id) topics.add(row.author_id)
  }
  return topics
}

const toSnapshot = (key: PageKey, { rows, ...page }: ReadPage): PageSnapshot => {
  const position = (rows[0] as { position?: bigint } | undefined)?.position ?? -1n
  return { page: { ...page, topics: topicsOfPage(key, rows) }, position }
}

/**
 * Events make cached pages stale. A page is stored with the checkpoint of the snapshot that it was read from, and only if no
 * later event has changed one of its topics. `isCurrent` is false while this node does not follow the log: then the cache is
 * neither read nor written.
 */
export const newFeedCache = (isCurrent: () => boolean): FeedCache => {
  const pages = newPageStore()
  const filling = new Map<string, Promise<PageSnapshot>>()
  const changes = newRecentChanges<readonly string[]>(REMEMBERED_CHANGES)
  let clearCount = 0

  const isStale = ({ position, page: { topics } }: PageSnapshot) =>
    changes.since(position, (changed) => changed.some((topic) => topics.has(topic))) !== 'unchanged'

  const startFill = (name: string, key: PageKey, fill: () => Promise<ReadPage>): Promise<PageSnapshot> => {
    const [before, mayStore] = [clearCount, isCurrent()]
    const work = async () => {
      const snapshot = toSnapshot(key, await fill())
      if (mayStore && clearCount === before && !isStale(snapshot)) pages.set(name, snapshot)
      return snapshot
    }
    const started = work().finally(() => {
      if (filling.get(name) === started) filling.delete(name)
    })
    filling.set(name, started)
    return started
  }

  const fillOnce = async (name: string, key: PageKey, fill: () => Promise<ReadPage>): Promise<FeedPage> => {
    const running = filling.get(name)
    const before = clearCount
    if (!running) return (await startFill(name, key, fill)).page
    // This fill began before the request, so it may have missed a write that was answered since; one that starts now cannot.
    const snapshot = await running
    if (clearCount === before && !isStale(snapshot)) return snapshot.page
    const later = filling.get(name) ?? startFill(name, key, fill)
    return (await later).page
  }

  const get: FeedCache['get'] = (key, fill) => {
    const name = `${key.limit} ${key.namespaceId ?? PUBLIC}`
    const snapshot = isCurrent() ? pages.get(name) : undefined
    return snapshot ? snapshot.page : fillOnce(name, key, fill)
  }

  const observe: FeedCache['observe'] = ({ position, topics }) => {
    changes.note(position, topics)
    for (const topic of topics) pages.drop(topic)
  }

  const clear = () => {
    clearCount += 1
    pages.clear()
    filling.clear()
  }

  const restart = () => {
    changes.restart()
    clear()
  }

  return { get, observe, clear, restart }
}
