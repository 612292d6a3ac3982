import type pg from 'pg'
import { int8s, uuids } from '../postgres/arrays.ts'

/** When sessions were last used: written behind, at most a second late, never an event. */
export type Uses = {
  /** Notes that a session was used, at a time in milliseconds. */
  note(sessionId: string, at?: number): void
  /** The newest time that is known here and may not be stored yet. */
  lastUsed(sessionId: string): number | undefined
  /** Resolves when what was noted until now is stored, or could not be. */
  flush(): Promise<void>
  close(): Promise<void>
}

export type UsesOptions = {
  readonly pool: Pick<pg.Pool, 'query'>
  readonly now: () => number
  readonly delayMs?: number
  /** How many sessions wait at most while the database is away. */
  readonly keep?: number
}

const CLOSE_MS = 2_000

const statement = `
  insert into tracebook.session_uses select * from unnest($1::uuid[], $2::int8[])
  on conflict (session_id) do update set last_used_at = greatest(session_uses.last_used_at, excluded.last_used_at)`

/** One statement for all sessions of half a second: an update per request would halve the throughput. */
export const newUses = ({ pool, now, delayMs = 500, keep = 10_000 }: UsesOptions): Uses => {
  let pending = new Map<string, number>()
  let writing = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let closed = false

  const store = async (uses: ReadonlyMap<string, number>) => {
    // In one order on all nodes: two of them never wait for each other.
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
    if (pending.size >= keep && !pending.has(id)) pending.delete(pending.keys().next().value!)
    pending.set(id, at)
  }

  const note = (id: string, at = now()) => {
    put(id, at)
    if (!running) schedule()
  }

  const close = async () => {
    closed = true
    const patience = Promise.withResolvers<void>()
    const limit = setTimeout(patience.resolve, CLOSE_MS)
    await Promise.race([flush(), patience.promise])
    clearTimeout(limit)
  }

  return { note, lastUsed: (id) => pending.get(id) ?? writing.get(id), flush, close }
}
