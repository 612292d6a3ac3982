import { newRecentChanges } from './recent-changes.ts'

/** A value from the read models, the topics of the events that make it stale, and the checkpoint of the snapshot it was read from. */
type ReadValue<Value> = {
  readonly value: Value
  readonly topics: ReadonlySet<string>
  readonly position: bigint
}

/** Caches values from the read models in bounded memory. An event drops the values that share a topic with it. */
export type TopicCache<Value> = {
  /** The cached value, which becomes the most recently used one. Always undefined while this node does not follow the log. */
  get(key: string): Value | undefined
  /** Reads a value and caches it, unless an event has made it stale meanwhile. Concurrent calls share one `read`. */
  load(key: string, read: () => Promise<ReadValue<Value>>): Promise<Value>
  /** Called for an event before its write is answered. */
  observe(event: { readonly position: bigint; readonly topics: readonly string[] }): void
  clear(): void
}

type TopicCacheOptions<Value> = {
  /** The size of a value. A value larger than `maxSize` is not cached. */
  readonly sizeOf: (value: Value) => number
  /** The total size of the cached values. When it is exceeded, the least recently used ones are dropped. */
  readonly maxSize: number
  /** False while this node does not follow the log: then the cache is neither read nor written. */
  readonly isCurrent: () => boolean
  /** The minimum number of events remembered, to know whether a value is stale by the time it has been read. */
  readonly remembered: number
}

/** Keys by topic. */
const newIndex = () => {
  const keys = new Map<string, Set<string>>()
  const add = (topic: string, key: string) => {
    const found = keys.get(topic)
    if (found) found.add(key)
    else keys.set(topic, new Set([key]))
  }
  const remove = (topic: string, key: string) => {
    const found = keys.get(topic)!
    found.delete(key)
    if (found.size === 0) keys.delete(topic)
  }
  return { add, remove, of: (topic: string) => keys.get(topic) ?? [], clear: () => keys.clear() }
}

export const newTopicCache = <Value>(options: TopicCacheOptions<Value>): TopicCache<Value> => {
  const { sizeOf, maxSize, isCurrent, remembered } = options
  const kept = new Map<string, ReadValue<Value> & { readonly size: number }>() // the least recently used one comes first
  const keysOf = newIndex()
  const reading = new Map<string, Promise<ReadValue<Value>>>()
  const changes = newRecentChanges<readonly string[]>(remembered)
  let newest: string | undefined
  let total = 0
  let clears = 0

  const remove = (key: string) => {
    const entry = kept.get(key)
    if (!entry) return
    kept.delete(key)
    total -= entry.size
    for (const topic of entry.topics) keysOf.remove(topic, key)
  }

  const keep = (key: string, read: ReadValue<Value>) => {
    remove(key)
    const size = sizeOf(read.value)
    if (size > maxSize) return
    total += size
    while (total > maxSize) remove(kept.keys().next().value!)
    kept.set((newest = key), { ...read, size })
    for (const topic of read.topics) keysOf.add(topic, key)
  }

  const isStale = ({ position, topics }: ReadValue<Value>) =>
    changes.since(position, (changed) => changed.some((topic) => topics.has(topic))) !== 'unchanged'

  const start = (key: string, read: () => Promise<ReadValue<Value>>): Promise<ReadValue<Value>> => {
    const [before, mayKeep] = [clears, isCurrent()]
    const work = async () => {
      const found = await read()
      if (mayKeep && clears === before && !isStale(found)) keep(key, found)
      return found
    }
    const started = work().finally(() => {
      if (reading.get(key) === started) reading.delete(key)
    })
    reading.set(key, started)
    return started
  }

  const load: TopicCache<Value>['load'] = async (key, read) => {
    const running = reading.get(key)
    if (!running) return (await start(key, read)).value
    // This read began before our call, so it may have missed a write that was answered since. A read that starts now cannot.
    const before = clears
    const found = await running
    if (clears === before && !isStale(found)) return found.value
    return (await (reading.get(key) ?? start(key, read))).value
  }

  const get = (key: string) => {
    const entry = isCurrent() ? kept.get(key) : undefined
    // A map from which an entry is deleted with each request is slow.
    if (entry && key !== newest && kept.delete(key)) kept.set((newest = key), entry)
    return entry?.value
  }

  const observe: TopicCache<Value>['observe'] = ({ position, topics }) => {
    changes.note(position, topics)
    for (const topic of topics) for (const key of keysOf.of(topic)) remove(key)
  }

  const clear = () => {
    clears += 1
    total = 0
    kept.clear()
    keysOf.clear()
    reading.clear()
  }

  return { get, load, observe, clear }
}
