import type pg from 'pg'
import { ifLate, newWakeup, pause } from '../../base/waits.ts'
import type { EventLog } from '../log/log.ts'
import { ANSWER_MS, destroyConnection, closeConnection, newClient } from '../postgres/connect.ts'
import { type Checkpoint, readCheckpoint } from './checkpoint.ts'
import { type Quarantine, readQuarantine } from './quarantine.ts'
import { isOutage } from './retryable-errors.ts'
import { isAheadOfLog } from './same-log.ts'
import { holdUseLock } from './schema.ts'
import type { Watermark } from './watermark.ts'

const BUSY_MS = 10
const IDLE_MS = 250
const TIMEOUT_MS = 3_000

/**
 * Verifies that a checkpoint belongs to the log in its current epoch. Read models with events that the log has lost are rebuilt;
 * until then their position belongs to other events.
 */
const newCheckpointVerifier = (log: Pick<EventLog, 'identity' | 'head' | 'holds'>) => {
  let verified: bigint | undefined // the last checkpoint of another epoch that the log holds
  const verify = async ({ epoch, position, anchor }: Checkpoint): Promise<boolean> => {
    if ((await log.identity()).epoch === epoch) return true
    if (position !== verified && (await isAheadOfLog(log, { position, anchor }))) return false
    verified = position
    return true
  }
  /** Also false while the log cannot be reached: no write needs the position then. */
  return (checkpoint: Checkpoint) => verify(checkpoint).catch(() => false)
}

/** A connection that is opened again after it was destroyed. `begin` is called with each new one. */
const newKeptConnection = (url: string, begin: (client: pg.Client) => Promise<unknown>) => {
  let client: pg.Client | undefined

  const get = async () => {
    if (client) return client
    const connection = newClient(url, 'checkpoint watch', ANSWER_MS)
    connection.on('error', () => {
      if (client === connection) client = undefined
    })
    await connection.connect()
    client = connection // `destroy` can end it from now on
    await begin(connection)
    return connection
  }

  const destroy = () => {
    if (client) destroyConnection(client)
    client = undefined
  }

  const close = async () => {
    if (client) await closeConnection(client)
  }

  return { get, destroy, close }
}

/** A group of read models whose checkpoint is followed. */
type Watched = {
  readonly schema: string
  readonly watermark: Watermark
  readonly quarantine: Quarantine
  /** False while this process runs the projections itself: its runner then moves the watermark. */
  readonly isNeeded: () => boolean
}

type WatchOptions = {
  /** Of the primary. */
  readonly url: string
  /** Of the server whose read models this node reads. */
  readonly readUrl: string
  readonly log: Pick<EventLog, 'identity' | 'head' | 'holds'>
  readonly groups: readonly Watched[]
}

/**
 * Polls the checkpoints and the quarantines of read models that another process builds: every 10 ms those for which a request waits,
 * and all every 250 ms. The connection to the primary also holds the use locks of the schemas, so that no process of a newer version
 * drops them.
 */
export const watchCheckpoints = ({ url, readUrl, log, groups }: WatchOptions): { close(): Promise<void> } => {
  let closed = false
  const wakeup = newWakeup()
  const primary = newKeptConnection(url, async (client) => {
    for (const { schema } of groups) await holdUseLock(client, schema)
  })
  const read = readUrl === url ? primary : newKeptConnection(readUrl, async () => {})

  const newPoll = ({ schema, watermark, quarantine, isNeeded }: Watched) => {
    const isValid = newCheckpointVerifier(log)
    return async (connection: pg.Client) => {
      if (!isNeeded()) return
      const checkpoint = await readCheckpoint(connection, schema)
      if (!checkpoint.ready) return
      const list = await readQuarantine(connection, schema) // read after the checkpoint, so that it is not older
      if (!isNeeded()) return
      quarantine.set(list)
      if ((await isValid(checkpoint)) && isNeeded()) watermark.advance(checkpoint.position)
    }
  }
  const watched = groups.map((group) => ({ ...group, poll: newPoll(group) }))
  const isWaitedFor = ({ isNeeded, watermark }: Watched) => isNeeded() && watermark.hasWaiters()

  /** Whether the schemas are locked: also while there is nothing to read, because the standby is away. */
  const locked = async (): Promise<boolean> => {
    try {
      await primary.get()
      return true
    } catch {
      primary.destroy()
      return false
    }
  }

  const pollSome = async (some: typeof watched) => {
    if (!(await locked())) return
    try {
      const connection = await read.get()
      for (const { poll } of some)
        await poll(connection).catch((error: unknown) => {
          if (isOutage(error)) throw error
          // no process has created this version's schema yet
        })
    } catch {
      read.destroy()
    }
  }

  const run = async () => {
    let allDueAt = 0
    while (!closed) {
      const waitedFor = watched.filter(isWaitedFor)
      const isAllDue = waitedFor.length === 0 || performance.now() >= allDueAt
      if (isAllDue) allDueAt = performance.now() + IDLE_MS
      await ifLate(TIMEOUT_MS, read.destroy, pollSome(isAllDue ? watched : waitedFor))
      if (watched.some(isWaitedFor)) await pause(BUSY_MS)
      else await wakeup.sleep(IDLE_MS)
    }
    for (const connection of new Set([primary, read])) await connection.close()
  }

  for (const { watermark } of groups) watermark.onWait(wakeup.wake)
  const running = run()
  return {
    close: async () => {
      closed = true
      wakeup.wake()
      await running
    },
  }
}
