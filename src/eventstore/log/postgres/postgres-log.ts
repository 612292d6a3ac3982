import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { REQUEST_WAIT_MS, pause } from '../../../base/waits.ts'
import { newClient, newPool, withConnection } from '../../postgres/connect.ts'
import { failureText, isTransient } from '../../postgres/errors.ts'
import { newIdentityCheck } from '../identity-check.ts'
import {
  type Anchor,
  type Batch,
  type EventLog,
  type LastRecord,
  LogChanged,
  LogUnavailable,
  type NewEpoch,
  type StoredRecord,
  type Revision,
} from '../log.ts'
import { DamagedRow } from './body.ts'
import { newProbe } from './probe.ts'
import { STATEMENT_MS, type Query, queryWithRetry, newReader } from './reader.ts'
import { newRecentEvents } from './recent-events.ts'
import { truncateStream } from './truncate.ts'
import { newWakeUps } from './wake-ups.ts'
import { newWriter } from './writer.ts'

/** After so long without a wake-up a follower reads the log itself. */
const POLL_MS = 400
const RETRY_MS = 200
const CLOSE_TIMEOUT_MS = 1_000
/** How much memory the recent events may take. */
const RECENT_BYTES = 16 * 1024 * 1024

const lastStatement = `
  select revision, last as position, ids[size] as id from log.appends where stream = $1 order by revision desc limit 1`

export type PostgresLogOptions = {
  readonly url: string
  /** How long an append may take before it is answered with LogUnavailable. Default: as long as a request waits. */
  readonly deadlineMs?: number
  /** How many connections the pool for reads may have; appends and wake-ups take one more each. */
  readonly connections?: number
  /** Default 32 MiB. */
  readonly maxAppendBytes?: number
  /** Called after each batch of appends, for the metrics. */
  readonly observe?: (appends: number, events: number, ms: number) => void
}

/** The events of a read that failed: undefined, so that it is tried again, unless it would fail each time. @throws DamagedRow */
const undefinedIfPassing = (error: unknown): undefined => {
  if (error instanceof DamagedRow) throw error
}

/** The log in PostgreSQL. Needs a direct connection, because LISTEN does not work through a connection pooler. */
export const openPostgresLog = (options: PostgresLogOptions): EventLog<StoredRecord> => {
  const { url, deadlineMs = REQUEST_WAIT_MS, connections = 6, maxAppendBytes = 32 * 1024 * 1024, observe } = options
  const listeners: ((epoch: NewEpoch) => void)[] = []
  const identityCheck = newIdentityCheck(0, (epoch) => {
    writer.abandon(new LogChanged())
    recent.wake()
    for (const listener of listeners) listener(epoch)
  })
  const verify = (client: pg.ClientBase) => identityCheck.verify(newProbe(client))
  const pool = newPool({ url, name: 'log', max: connections, statementTimeoutMs: STATEMENT_MS, onConnect: verify })
  /** A query of a pool whose connections may lead to the server before a failover, which may still be running. */
  const query: Query = async (asked) => {
    identityCheck.assertSame()
    const found = await queryWithRetry<never>(pool, asked)
    identityCheck.assertSame()
    return found
  }
  const { page, read, readAll, readRevisions } = newReader(query)
  const recent = newRecentEvents(RECENT_BYTES)
  const closing = new AbortController()
  const wakeUps = newWakeUps(url, pool, {
    grown: recent.wake,
    truncated: recent.clear,
    // If this fails, a connection was lost, and the next one verifies.
    renewed: () => void identityCheck.verify(probe).catch(() => {}),
  })
  const committed = (events: readonly StoredRecord[]) => {
    identityCheck.noteRead(events.at(-1))
    if (events.length > 0) recent.publish(events)
    else recent.wake()
    wakeUps.notify()
  }
  const writer = newWriter({ url, deadlineMs, verify, committed, ...(observe ? { observe } : {}) })

  async function* follow({
    after,
    signal,
  }: {
    after: bigint
    signal: AbortSignal
  }): AsyncIterable<Batch<StoredRecord>> {
    const stopped = AbortSignal.any([signal, closing.signal])
    const reader = recent.read()
    let position = after
    // The log itself is read at the start, and after a while without a wake-up, because a notification may have been lost.
    let mayUseRecent = false
    try {
      while (!stopped.aborted) {
        const seen = recent.count()
        const events =
          (mayUseRecent ? reader.eventsAfter(position) : undefined) ?? (await page(position).catch(undefinedIfPassing))
        if (stopped.aborted) return
        identityCheck.assertSame()
        identityCheck.noteRead(events?.at(-1))
        if (events === undefined) await pause(RETRY_MS, stopped)
        else if (events.length === 0) {
          reader.reachedEnd(seen)
          yield { events, through: position } // an empty batch shows the follower that the log answers
          mayUseRecent = await recent.changed(seen, POLL_MS, stopped)
        } else {
          mayUseRecent = true
          position = events.at(-1)!.position
          yield { events, through: position }
        }
      }
    } finally {
      reader.leave()
    }
  }

  const truncate = async (stream: string, before: Revision, held?: Anchor) => {
    identityCheck.assertSame()
    await truncateStream(pool, stream, before, held).finally(() => recent.drop(stream, before))
    await wakeUps.notifyTruncated()
  }

  const last = async (stream: string) => {
    const { rows } = await query<LastRecord>({ name: 'log-last', text: lastStatement, values: [stream] })
    return rows[0]
  }

  const head = async () => {
    const text = 'select coalesce(max(last), 0) as position from log.appends'
    return (await query<{ position: bigint }>({ name: 'log-head', text })).rows[0]!.position
  }

  // The pool, with the retries of all reads. The probe calls only this form of `query`.
  const probe = newProbe({
    query: (text: string, values: unknown[]) => query({ text, values }),
  } as never)

  const identity = async () => {
    const current = await probe.identity()
    if (!identityCheck.noteIdentity(current)) await identityCheck.verify(probe)
    return current
  }

  const renewEpoch = async (seen: string) => {
    // Over a connection of its own: those of the pool are of no use any more once this log has noticed its new epoch.
    const renewed = await withConnection(newClient(url, 'log epoch', STATEMENT_MS), async (client) => {
      const identity = await newProbe(client).renewEpoch(seen)
      await wakeUps.notifyRenewed(client)
      return identity
    }).catch((error: unknown) => {
      if (!isTransient(error)) throw error
      throw new LogUnavailable(false, error, failureText('the log', error, STATEMENT_MS))
    })
    await identityCheck.verify(probe).catch(() => {}) // throws LogChanged, if not for another reason
    return renewed
  }

  let closed: Promise<void> | undefined
  const close = () => (closed ??= closeAll())
  const closeAll = async () => {
    await writer.close()
    closing.abort()
    await wakeUps.close()
    await Promise.race([pool.end(), setTimeout(CLOSE_TIMEOUT_MS, undefined, { ref: false })])
  }

  return {
    append: writer.append,
    read,
    readRevisions,
    last,
    readAll,
    follow,
    truncate,
    head,
    identity,
    renewEpoch,
    holds: probe.holds,
    onChange: (listener) => void listeners.push(listener),
    maxAppendBytes,
    close,
  }
}
