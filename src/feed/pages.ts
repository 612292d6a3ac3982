import { PAGE_BYTES } from '../http/page-bytes.ts'
import type { FeedEntry } from './queries.ts'

/** The first page of a feed: its entries, what it is about, and for the public one the anonymous answer as ready bytes. */
export type FeedPage = {
  readonly entries: readonly FeedEntry[]
  readonly topics: ReadonlySet<string>
  readonly body?: Buffer
}

/** A page, and the checkpoint of the snapshot that it was read from. */
export type Filled = { readonly page: FeedPage; readonly position: bigint }

/** A page of the longest kind, with its entries. */
const MAX_WEIGHT = 3 * PAGE_BYTES
const ENTRY_WEIGHT = 400 // of an entry without its text, and of what it is found by

/** About what a page takes in memory, in characters: a title may be as long as a body. */
const weigh = ({ page: { entries, body } }: Filled): number =>
  entries.reduce((sum, { text }) => sum + ENTRY_WEIGHT + text.length, ENTRY_WEIGHT + (body?.length ?? 0))

/** Pages by name and by what they are about. */
export const newPages = () => {
  const pages = new Map<string, Filled>()
  const byTopic = new Map<string, Set<string>>()
  let weight = 0

  const remove = (name: string) => {
    const filled = pages.get(name)
    if (!filled) return
    weight -= weigh(filled)
    for (const topic of filled.page.topics) {
      const about = byTopic.get(topic)!
      about.delete(name)
      if (about.size === 0) byTopic.delete(topic)
    }
    pages.delete(name)
  }

  const set = (name: string, filled: Filled) => {
    remove(name)
    const more = weigh(filled)
    if (more > MAX_WEIGHT) return
    weight += more
    while (weight > MAX_WEIGHT) remove(pages.keys().next().value!)
    pages.set(name, filled)
    for (const topic of filled.page.topics) {
      const about = byTopic.get(topic)
      if (about) about.add(name)
      else byTopic.set(topic, new Set([name]))
    }
  }

  /** Moves the page behind all others that wait to be dropped. */
  const get = (name: string): Filled | undefined => {
    const filled = pages.get(name)
    if (filled && pages.delete(name)) pages.set(name, filled)
    return filled
  }

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
