import type pg from 'pg'
import { int8s, uuids } from '../postgres/arrays.ts'

/** When sessions were last used. Collected in memory and stored within about a second; not part of the log. */
export type LastUsedTimes = {
  /** Records a use of a session. `at` is in milliseconds; default: now. */
  record(sessionId: string, at?: number): void
  /** The last use, in milliseconds, as far as it is not stored yet; undefined otherwise. */
  get(sessionId: string): number | undefined
  /** Resolves when all that was recorded before is stored, or storing it has failed. */
  flush(): Promise<void>
  close(): Promise<void>
}

export type LastUsedOptions = {
  readonly pool: Pick<pg.Pool, 'query'>
  readonly now: () => number
  readonly delayMs?: number
  /** How many sessions are kept at most while the database cannot be reached. */
  readonly maxPending?: number
}

const CLOSE_TIMEOUT_MS = 2_000

const statement = `
  insert into tracebook.session_uses select * from unnest($1::uuid[], $2::int8[])
  on conflict (session_id) do update set last_used_at = greatest(session_uses.last_used_at, excluded.last_used_at)`

/** Stores all sessions of half a second with one statement, because an update for each request would halve the throughput. */
export const newLastUsedTimes = ({ pool, now, delayMs = 500, maxPending = 10_000 }: LastUsedOptions): LastUsedTimes => {
  let pending = new Map<string, number>()
  let writing = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let closed = false

  const store = async (uses: ReadonlyMap<string, number>) => {
    // Sorted, so that two nodes lock the rows in the same order and do not deadlock.
    const sorted = [...uses].sort(([a], [b]) => (a < b ? -1 : 1))
    const values = [uuids(sorted.map(([id]) => id)), int8s(sorted.map(([, at]) => at))]
    await pool.query({ name: 'session-uses', text: statement, values })
  }

  const write = async () => {
    writing = pending
    pending = new Map()
    try {
      await store(writing)
    } catch {
      for (const [id, at] of writing) if (!pending.has(id)) put(id, at)
    }
    writing = new Map()
  }

  const flush = async () => {
    clearTimeout(timer)
    timer = undefined
    while (running) await running
    if (pending.size === 0) return
    running = write().finally(() => {
      running = undefined
      schedule()
    })
    await running
  }

  const schedule = () => {
    if (timer || closed || pending.size === 0) return
    timer = setTimeout(() => void flush(), delayMs)
    timer.unref()
  }

  const put = (id: string, at: number) => {
    if (pending.size >= maxPending && !pending.has(id)) pending.delete(pending.keys().next().value!)
    pending.set(id, at)
  }

  const note = (id: string, at = now()) => {
    put(id, at)
    if (!running) schedule()
  }

  const close = async () => {
    closed = true
    const timedOut = Promise.withResolvers<void>()
    const timeout = setTimeout(timedOut.resolve, CLOSE_TIMEOUT_MS)
    await Promise.race([flush(), timedOut.promise])
    clearTimeout(timeout)
  }

  return { record: note, get: (id) => pending.get(id) ?? writing.get(id), flush, close }
}
