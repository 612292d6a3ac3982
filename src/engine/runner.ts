import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { cut, hangUp, isTransient, newApplyingClient, newClient } from '../postgres/connect.ts'
import { type Session, endSession, sessionOf, untilAnswered } from '../postgres/lost-answer.ts'
import { type EventLog, LogUnavailable, type RecordedEvent } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'
import { type Codec, UnknownEvent } from './codec.ts'
import type { Horizon } from './horizon.ts'
import { type Happened, project } from './projection.ts'
import { CHECKPOINT_MOVED, type Group, ensureSchema, finishSchema, noteStop, noteUse, schemaOf } from './read-models.ts'
import { idOf } from './stream.ts'
import { newTidy } from './tidy.ts'

const LOCK_RETRY_MS = 300
const RECONNECT_MS = 150
const NOTIFY_GAP_MS = 20

/** What the runner is doing. Once `stopped` it does nothing more: somebody has to look. */
export type RunnerState =
  | { readonly is: 'starting' | 'standby' | 'running' | 'disconnected' }
  | { readonly is: 'rebuilding'; readonly from: bigint; readonly position: bigint; readonly head: bigint }
  | { readonly is: 'stopped'; readonly reason: string }

type Log = { info(data: object, message: string): void; error(data: object, message: string): void }

export type RunnerOptions = {
  readonly url: string
  readonly group: Group
  readonly log: EventLog
  readonly codec: Codec
  readonly horizon: Horizon
  readonly logger: Log
  readonly observe?: (events: number, ms: number) => void
}

export type Runner = { state(): RunnerState; close(): Promise<void> }

export const happened = (codec: Codec, event: RecordedEvent): Happened => {
  const { at, actor } = metadataOf(event)
  const { type, data } = codec.decode(event)
  const { stream, revision, position } = event
  const bytes = event.data.length
  return { type, data, of: idOf(event), stream, revision, position, at, actor, bytes }
}

/**
 * Applies whole appends to a schema of the group, in one transaction with the checkpoint. All statements are sent at
 * once and answered in order; a swap of schemas (rebuild) waits for the shared lock and is waited for by it.
 */
export const applyBatch = async (
  client: pg.Client,
  group: Group,
  events: readonly Happened[],
  from: bigint,
  through: bigint,
): Promise<void> => {
  const sent: Promise<unknown>[] = []
  const release = holdBack(client)
  const send = (query: string | pg.QueryConfig) => sent.push(client.query(query))
  send('begin')
  send(`select pg_advisory_xact_lock_shared(hashtext('tracebook swap'))`)
  send({ name: 'advance', text: 'select advance($1, $2)', values: [from, through] })
  try {
    for (const projection of group.projections) {
      project(projection, events, (name, text, values) => send({ name, text, values: [...values] }))
    }
    send('commit')
  } catch (error) {
    send('rollback')
    release()
    await Promise.allSettled(sent)
    throw error
  }
  release()
  const failed = (await Promise.allSettled(sent)).find((outcome) => outcome.status === 'rejected')
  if (failed) throw failed.reason
}

/** Lets what is written to a connection leave in one piece: a batch of statements costs one system call, not a dozen. */
const holdBack = (client: pg.Client): (() => void) => {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection
  stream.cork()
  return () => stream.uncork()
}

/** A connection whose transactions may be lost with the server: they are replayed from the checkpoint. */
export const connectForApplying = async (url: string, schema: string): Promise<pg.Client> => {
  const client = newApplyingClient(url, schema)
  client.on('error', () => {})
  await client.connect()
  return client
}

/**
 * The runner of the one group: holds an advisory lock on the connection that runs its transactions, so that another
 * process takes over when it dies, and stops loudly at an event that it cannot apply (architecture: Projections).
 */
export const startRunner = (options: RunnerOptions): Runner => {
  const { url, group, log, codec, horizon, logger, observe } = options
  const schema = schemaOf(group)
  const stop = new AbortController()
  const tidy = newTidy({ url, group, logger })
  let state: RunnerState = { is: 'starting' }
  let current: pg.Client | undefined

  const pause = (ms: number) => sleep(ms, undefined, { signal: stop.signal }).catch(() => {})

  let session: Session | undefined // of the present connection, or of the last one
  const answered = <T>(client: pg.Client, work: Promise<T>) => untilAnswered(url, client, session!, work)

  const acquire = async (client: pg.Client) => {
    const lock = `select pg_try_advisory_lock(hashtext('tracebook runner ${schema}')) as mine`
    while (!stop.signal.aborted) {
      const { rows } = await answered(client, client.query(lock))
      if (rows[0].mine) return true
      state = { is: 'standby' }
      await pause(LOCK_RETRY_MS)
    }
    return false
  }

  let notified = 0
  const announce = (client: pg.Client) => {
    const now = performance.now()
    if (now - notified < NOTIFY_GAP_MS) return
    notified = now
    client.query(`select pg_notify('tracebook_projected', '')`).catch(() => {})
  }

  const lead = async (client: pg.Client, lost: AbortSignal) => {
    const { position, ready } = await answered(client, ensureSchema(client, group, schema))
    const goal = await log.head()
    let [at, finished] = [position, ready]
    horizon.reset(ready ? position : 0n)
    const caughtUp = async () => {
      if (finished || at < goal) return
      await answered(client, finishSchema(client, group, schema))
      finished = true
      horizon.advance(at)
    }
    await caughtUp()
    state = finished ? { is: 'running' } : { is: 'rebuilding', from: position, position: at, head: goal }
    for await (const { events, through } of log.follow({ after: at, signal: AbortSignal.any([stop.signal, lost]) })) {
      if (through === at) {
        if (finished) tidy.now()
        continue
      }
      const started = performance.now()
      const batch = events.map((event) => happened(codec, event))
      await answered(client, applyBatch(client, group, batch, at, through))
      at = through
      observe?.(events.length, performance.now() - started)
      await caughtUp()
      state = finished ? { is: 'running' } : { is: 'rebuilding', from: position, position: at, head: goal }
      if (finished) horizon.advance(at)
      announce(client)
    }
    lost.throwIfAborted()
  }

  const once = async () => {
    const client = await connectForApplying(url, schema)
    current = client
    const earlier = session
    session = sessionOf(client)
    // A crash takes the last transactions along: they have to be applied again, also when nothing new comes.
    const lost = new AbortController()
    client.once('end', () => lost.abort(new Error('the connection has ended')))
    try {
      if (earlier) await endSession(client, earlier)
      await answered(client, noteUse(client, schema))
      if (await acquire(client)) await lead(client, lost.signal)
    } finally {
      current = undefined
      await hangUp(client)
    }
  }

  const run = async () => {
    while (!stop.signal.aborted) {
      try {
        await once()
      } catch (error) {
        if (stop.signal.aborted) return
        if (!mayPass(error)) {
          state = {
            is: 'stopped',
            reason: error instanceof UnknownEvent ? error.message : 'an event cannot be applied',
          }
          logger.error({ err: error }, 'projections stopped: an event cannot be applied')
          return tellStop(url, schema)
        }
        state = { is: 'disconnected' }
        tidy.later()
        logger.info({ err: error }, 'projections lost their database and try again')
        await pause(RECONNECT_MS)
      }
    }
  }

  const running = run()
  const close = async () => {
    stop.abort()
    const patience = setTimeout(() => current && cut(current), 2_000)
    await Promise.all([running, tidy.close()])
    clearTimeout(patience)
  }
  return { state: () => state, close }
}

/** Reads of all nodes go on from where the read models stay; without the note they would wait for more. */
const tellStop = async (url: string, schema: string) => {
  const client = newClient(url, 'projections stopped', 5_000)
  client.on('error', () => {})
  await client
    .connect()
    .then(() => noteStop(client, schema))
    .catch(() => {})
  await hangUp(client)
}

/** Whether the same again may pass: the database went away, or another runner was faster. Never for a wrong event. */
const mayPass = (error: unknown): boolean => {
  if (error instanceof UnknownEvent) return false
  if ((error as { code?: string }).code === CHECKPOINT_MOVED) return true
  if (error instanceof LogUnavailable) return true
  return isConnectionError(error) || (error instanceof pg.DatabaseError && isTransient(error))
}

/** An error of the socket or the driver. */
const isConnectionError = (error: unknown): boolean => {
  const { code, message = '' } = error as { code?: unknown; message?: string }
  return /^E[A-Z]+$/.test(String(code)) || /connection|terminated|timeout|not queryable/i.test(message)
}
