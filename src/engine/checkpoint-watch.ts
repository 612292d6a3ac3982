import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { EventLog } from '../log/log.ts'
import { cut, hangUp, newClient } from '../postgres/connect.ts'
import { type Checkpoint, readCheckpoint } from './checkpoint.ts'
import type { Watermark } from './watermark.ts'
import { type Quarantine, readQuarantine } from './quarantine.ts'
import { isAheadOfLog } from './same-log.ts'
import { holdUseLock } from './schema.ts'

const BUSY_MS = 10
const IDLE_MS = 250
const ANSWER_MS = 3_000

/**
 * Whether a checkpoint says something of the log as it is now: where read models have seen more than the log holds, their
 * position stands for events that were lost, until they have been built anew.
 */
const newCheckpointVerifier = (log: Pick<EventLog, 'identity' | 'onChange' | 'head' | 'holds'>) => {
  let epoch: string | undefined
  let changes = 0
  let proven = ''
  log.onChange((identity) => {
    epoch = identity.epoch
    changes += 1
  })
  const prove = async (checkpoint: Checkpoint): Promise<boolean> => {
    const { epoch: now } = await log.identity()
    epoch ??= now // unless it has changed meanwhile
    if (checkpoint.epoch === epoch) return true
    const name = `${epoch} ${checkpoint.position}`
    if (name !== proven && (await isAheadOfLog(log, checkpoint))) return false
    proven = name
    return true
  }
  /** A log that is away is asked again later: nothing is written meanwhile. */
  return { changes: () => changes, holds: (checkpoint: Checkpoint) => prove(checkpoint).catch(() => false) }
}

/**
 * Tells a node whose read models are built by another process how far they have come, and which streams are in
 * quarantine: it looks at the checkpoint as soon as a request waits and often until none does, and now and then otherwise.
 * Its connection also says that this process uses the schema, so that no newer version drops it.
 */
export const watchCheckpoint = (options: {
  readonly url: string
  readonly log: Pick<EventLog, 'identity' | 'onChange' | 'head' | 'holds'>
  readonly schema: string
  readonly watermark: Watermark
  readonly quarantine: Quarantine
  /** False while this process runs the projections itself and knows better. */
  readonly isNeeded: () => boolean
}): { close(): Promise<void> } => {
  const { url, log, schema, watermark, quarantine, isNeeded } = options
  const trust = newCheckpointVerifier(log)
  let closed = false
  let client: pg.Client | undefined
  let wake = () => {}

  const connected = async () => {
    if (client) return client
    const fresh = newClient(url, 'checkpoint watch', 5_000)
    fresh.on('error', () => {
      if (client === fresh) client = undefined
    })
    await fresh.connect()
    client = fresh // from here on it is cut when it does not answer
    await holdUseLock(fresh, schema)
    return fresh
  }

  const look = async () => {
    const patience = setTimeout(() => client && cut(client), ANSWER_MS)
    try {
      const connection = await connected()
      if (!isNeeded()) return
      const changes = trust.changes()
      const checkpoint = await readCheckpoint(connection, schema)
      if (!checkpoint.ready) return
      const list = await readQuarantine(connection, schema) // at least as new as the position that is shown next
      if (!isNeeded()) return
      quarantine.set(list)
      const counts = await trust.holds(checkpoint)
      if (counts && isNeeded() && trust.changes() === changes) watermark.advance(checkpoint.position)
    } catch {
      if (client) cut(client)
      client = undefined // the database is away, or this version's schema is not there yet
    } finally {
      clearTimeout(patience)
    }
  }

  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => (clearTimeout(timer), resolve())
    })

  const isAskedFor = () => isNeeded() && watermark.hasWaiters()

  const run = async () => {
    while (!closed) {
      await look()
      if (isAskedFor()) await sleep(BUSY_MS)
      else await rest(IDLE_MS)
    }
    if (client) await hangUp(client)
  }

  watermark.onWait(() => wake())
  const running = run()
  return {
    close: async () => {
      closed = true
      wake()
      await running
    },
  }
}
