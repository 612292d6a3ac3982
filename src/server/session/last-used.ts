import type pg from 'pg'
import { BoundedMap } from '../../base/bounded-map.ts'
import { SERVICE, actAs } from '../../base/current-client.ts'
import { int8s, uuids } from '../../eventstore/postgres/arrays.ts'

/** When sessions were last used. Collected in memory and stored within about a second; not part of the log. */
export type LastUsedTimes = {
  /** Records a use of a session. `at` is in milliseconds since 1970. Default: now. */
  record(sessionId: string, at?: number): void
  /** The last use, in milliseconds since 1970; undefined if it is stored already. */
  get(sessionId: string): number | undefined
  /** Resolves when all that was recorded before is stored, or storing it has failed. */
  flush(): Promise<void>
  close(): Promise<void>
}

type LastUsedOptions = {
  readonly pool: Pick<pg.Pool, 'query'>
  readonly now: () => number
  readonly delayMs?: number
  /** The maximum number of sessions that are kept while the database cannot be reached. Default: 10,000. */
  readonly maxPending?: number
}

const CLOSE_TIMEOUT_MS = 2_000

const statement = `
  insert into tracebook.session_uses select * from unnest($1::uuid[], $2::int8[])
  on conflict (session_id) do update set last_used_at = greatest(session_uses.last_used_at, excluded.last_used_at)`

/** Stores the uses of half a second with one statement, because an update for each request would halve the throughput. */
export const newLastUsedTimes = ({ pool, now, delayMs = 500, maxPending = 10_000 }: LastUsedOptions): LastUsedTimes => {
  const newPending = () => new BoundedMap<string, number>(maxPending)
  let pending = newPending()
  let writing: ReadonlyMap<string, number> = new Map()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let closed = false

  const store = async (times: ReadonlyMap<string, number>) => {
    // Sorted, so that two nodes lock the rows in the same order and do not deadlock.
    const sorted = [...times].sort(([a], [b]) => (a < b ? -1 : 1))
    const values = [uuids(sorted.map(([id]) => id)), int8s(sorted.map(([, at]) => at))]
    await pool.query({ name: 'session-uses', text: statement, values })
  }

  const write = async () => {
    writing = pending
    pending = newPending()
    try {
      await store(writing)
    } catch {
      for (const [id, at] of writing) if (!pending.has(id)) pending.set(id, at)
    }
    writing = new Map()
  }

  const flush = async () => {
    clearTimeout(timer)
    timer = undefined
    while (running) await running
    if (pending.size === 0) return
    running = actAs(SERVICE, write).finally(() => {
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

  const record = (id: string, at = now()) => {
    pending.set(id, at)
    if (!running) schedule()
  }

  const close = async () => {
    closed = true
    const timedOut = Promise.withResolvers<void>()
    const timeout = setTimeout(timedOut.resolve, CLOSE_TIMEOUT_MS)
    await Promise.race([flush(), timedOut.promise])
    clearTimeout(timeout)
  }

  return { record, get: (id) => pending.get(id) ?? writing.get(id), flush, close }
}
