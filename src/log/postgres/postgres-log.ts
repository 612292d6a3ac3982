import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { newPool } from '../../postgres/connect.ts'
import { newWatchman } from '../identity-check.ts'
import { type Batch, type EventLog, LogChanged, type LogIdentity, type RecordedEvent, type Revision } from '../log.ts'
import { lookAt } from './probe.ts'
import { ask, newReader } from './reader.ts'
import { newTail } from './tail.ts'
import { newWakeUps } from './wake-ups.ts'
import { newWriter } from './writer.ts'

const POLL_MS = 400
const RETRY_MS = 200
const CLOSE_TIMEOUT_MS = 1_000
const STATEMENT_MS = 10_000
const TAIL_BYTES = 16 * 1024 * 1024
const TRUNCATE_STEP = 2_000

const truncateStep = `
  delete from log.events where position in (
    select position from log.events where stream = $1 and revision < least($2::int8,
      (select max(revision) from log.events where stream = $1)) order by revision limit ${TRUNCATE_STEP})`

const lastStatement = 'select revision from log.events where stream = $1 order by revision desc limit 1'

export type PostgresLogOptions = {
  readonly url: string
  readonly deadlineMs?: number
  /** Of the pool for reads; appends and wake-ups take one each besides. */
  readonly connections?: number
  /** Default 32 MiB. */
  readonly maxAppendBytes?: number
  readonly observe?: (appends: number, events: number, ms: number) => void
}

const pause = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => {})

/** The log in Postgres. Needs a direct connection: LISTEN does not survive a pooler. */
export const openPostgresLog = (options: PostgresLogOptions): EventLog => {
  const { url, deadlineMs = 5_000, connections = 6, maxAppendBytes = 32 * 1024 * 1024, observe } = options
  const listeners: ((identity: LogIdentity) => void)[] = []
  const watchman = newWatchman(0, (identity) => {
    writer.abandon(new LogChanged())
    tail.restart()
    for (const listener of listeners) listener(identity)
  })
  const verify = (client: pg.ClientBase) => watchman.verify(lookAt(client))
  const pool = newPool(url, 'log', connections, STATEMENT_MS, undefined, verify)
  const { page, read, readAll } = newReader(pool)
  const tail = newTail(TAIL_BYTES)
  const closing = new AbortController()
  const others = newWakeUps(url, pool, { grown: tail.wake, truncated: tail.forget })
  const committed = (events: readonly RecordedEvent[]) => {
    watchman.saw(events.at(-1))
    if (events.length > 0) tail.publish(events)
    else tail.wake()
    others.tell()
  }
  const writer = newWriter({ url, deadlineMs, verify, committed, ...(observe ? { observe } : {}) })

  async function* follow({ after, signal }: { after: bigint; signal: AbortSignal }): AsyncIterable<Batch> {
    const end = AbortSignal.any([signal, closing.signal])
    const reader = tail.read()
    const generation = watchman.generation()
    let at = after
    let woken = false // otherwise it is time to look into the log itself
    try {
      while (!end.aborted) {
        const seen = tail.version()
        const events = (woken ? reader.after(at) : undefined) ?? (await page(at).catch(() => undefined))
        if (end.aborted) return
        if (watchman.generation() !== generation) throw new LogChanged()
        watchman.saw(events?.at(-1))
        if (events === undefined) await pause(RETRY_MS, end)
        else if (events.length === 0) {
          reader.reachedEnd(seen)
          yield { events, through: at } // nothing new, but heard of
          woken = await tail.changed(seen, POLL_MS, end)
        } else {
          woken = true
          at = events.at(-1)!.position
          yield { events, through: at }
        }
      }
    } finally {
      reader.leave()
    }
  }

  const truncate = async (stream: string, before: Revision) => {
    for (;;) {
      const { rowCount } = await ask(pool, { name: 'log-truncate', text: truncateStep, values: [stream, before] })
      tail.erased(stream, before)
      if (!rowCount || rowCount < TRUNCATE_STEP) break
    }
    await others.tellTruncated()
  }

  const lastRevision = async (stream: string) => {
    const query = { name: 'log-last', text: lastStatement, values: [stream] }
    return (await ask<{ revision: bigint }>(pool, query)).rows[0]?.revision ?? 'none'
  }

  const head = async () => {
    const query = { name: 'log-head', text: 'select coalesce(max(position), 0) as position from log.events' }
    return (await ask<{ position: bigint }>(pool, query)).rows[0]!.position
  }

  const look = lookAt({ query: (text: string, values: unknown[]) => ask(pool, { text, values }) } as never)

  let closed: Promise<void> | undefined
  const close = () => (closed ??= shut())
  const shut = async () => {
    await writer.close()
    closing.abort()
    await others.close()
    await Promise.race([pool.end(), setTimeout(CLOSE_TIMEOUT_MS, undefined, { ref: false })])
  }

  return {
    append: writer.append,
    read,
    lastRevision,
    readAll,
    follow,
    truncate,
    head,
    identity: look.identity,
    holds: look.holds,
    onChange: (listener) => void listeners.push(listener),
    maxAppendBytes,
    close,
  }
}
