import { PAGE_BYTES } from '../http/page-bytes.ts'
import type { FeedEntry } from './queries.ts'

/** The first page of a feed. */
export type FeedPage = {
  readonly entries: readonly FeedEntry[]
  /** An event that changes one of these topics makes the page stale. */
  readonly topics: ReadonlySet<string>
  /** The whole answer to a request without a session; of the public feed only, and only if it is small. */
  readonly body?: Buffer
}

/** A page, and the checkpoint of the database snapshot that it was read from. */
export type PageSnapshot = { readonly page: FeedPage; readonly position: bigint }

/** In characters; room for two pages of the largest size. */
const MAX_WEIGHT = 3 * PAGE_BYTES
const ENTRY_WEIGHT = 400 // of an entry without its text, with its topics

/** About how much memory a page takes, in characters. */
const weigh = ({ page: { entries, body } }: PageSnapshot): number =>
  entries.reduce((sum, { text }) => sum + ENTRY_WEIGHT + text.length, ENTRY_WEIGHT + (body?.length ?? 0))

/** Pages by name and by topic. When they are too heavy together, the least recently used ones are dropped. */
export const newPageStore = () => {
  const pages = new Map<string, PageSnapshot>()
  const byTopic = new Map<string, Set<string>>()
  let weight = 0

  const remove = (name: string) => {
    const snapshot = pages.get(name)
    if (!snapshot) return
    weight -= weigh(snapshot)
    for (const topic of snapshot.page.topics) {
      const names = byTopic.get(topic)!
      names.delete(name)
      if (names.size === 0) byTopic.delete(topic)
    }
    pages.delete(name)
  }

  const set = (name: string, snapshot: PageSnapshot) => {
    remove(name)
    const added = weigh(snapshot)
    if (added > MAX_WEIGHT) return
    weight += added
    while (weight > MAX_WEIGHT) remove(pages.keys().next().value!)
    pages.set(name, snapshot)
    for (const topic of snapshot.page.topics) {
      const names = byTopic.get(topic)
      if (names) names.add(name)
      else byTopic.set(topic, new Set([name]))
    }
  }

  /** Also makes the page the most recently used one. */
  const get = (name: string): PageSnapshot | undefined => {
    const snapshot = pages.get(name)
    if (snapshot && pages.delete(name)) pages.set(name, snapshot)
    return snapshot
  }

  /** Drops all pages with a topic. */
  const drop = (topic: string) => {
    for (const name of byTopic.get(topic) ?? []) remove(name)
  }

  const clear = () => {
    pages.clear()
    byTopic.clear()
    weight = 0
  }

  return { get, set, drop, clear }
}
