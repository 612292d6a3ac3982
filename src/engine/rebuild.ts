import type pg from 'pg'
import { pause } from '../base/waits.ts'
import { type EventLog, LogChanged, type RecordedEvent } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'
import { newApplyingClient } from '../postgres/connect.ts'
import { type LeaderSession, endLeaderSession, openLeaderSession } from '../postgres/leader.ts'
import { SqlState, hasSqlState } from '../postgres/sql-state.ts'
import { readCheckpoint } from './checkpoint.ts'
import type { Codec } from './codec.ts'
import { type BatchApplier, newBatchApplier } from './batch-applier.ts'
import { type Group, nextSchemaOf, oldSchemaOf, parseSchema, schemaOf } from './group.ts'
import { RebuildBlocked } from './retryable-errors.ts'
import { quarantineKey, readQuarantine } from './quarantine.ts'
import { assertSameLog } from './same-log.ts'
import { dropUnlessLocked, ensureSchema, finishSchema, locks, holdUseLock, schemasOf } from './schema.ts'

const BATCH_EVENTS = 1_000
const BATCH_LENGTH = 8 * 1024 * 1024
const LOCK_TIMEOUT_MS = 200
const RETRY_MS = 300

export type RebuildOptions = {
  readonly url: string
  readonly group: Group
  readonly log: EventLog
  readonly codec: Codec
  /** Called after each batch with the new schema's position, the position it has to reach, and how many events it had. */
  readonly progress?: (position: bigint, goal: bigint, events: number) => void
  /** What the new read models have to reach: the checkpoint of those that serve (default), or the log's head. */
  readonly upTo?: 'served' | 'head'
  readonly signal?: AbortSignal
}

const weight = (events: readonly RecordedEvent[]) => events.reduce((sum, event) => sum + event.data.length, 0)

const closesAppend = (event: RecordedEvent) => {
  const { index, size } = metadataOf(event).append
  return index === size - 1
}

type Build = RebuildOptions & {
  readonly client: pg.Client
  readonly nextSchema: string
  readonly applier: BatchApplier
  readonly epoch: string
}

/** In another epoch the goal's position may belong to other events than those that were read. @throws LogChanged */
const assertEpoch = async (log: EventLog, epoch: string) => {
  if ((await log.identity()).epoch !== epoch) throw new LogChanged()
}

/** Applies the log to the new schema up to the goal, batch by batch. */
const catchUp = async (build: Build): Promise<void> => {
  const { client, nextSchema, applier, log, epoch, progress, signal } = build
  const goal = await goalOf(build)
  let { position } = await readCheckpoint(client, nextSchema)
  let batch: RecordedEvent[] = []
  const flush = async (through: bigint) => {
    signal?.throwIfAborted()
    if (through <= position) return
    await applier.apply(batch, position, through)
    position = through
    progress?.(position, goal, batch.length)
    batch = []
  }
  for await (const event of log.readAll({ after: position })) {
    if (event.position > goal) break
    batch.push(event)
    const isFull = batch.length >= BATCH_EVENTS || weight(batch) >= BATCH_LENGTH
    if (isFull && closesAppend(event)) await flush(event.position)
  }
  await assertEpoch(log, epoch)
  await flush(goal)
}

const goalOf = async ({ client, group, log, upTo = 'served' }: Build): Promise<bigint> =>
  upTo === 'head' ? log.head() : (await readCheckpoint(client, schemaOf(group))).position

/**
 * Ends the runner's session if the new read models have other streams in quarantine: the runner holds the list in memory,
 * and starts again from the stored list. Until the swap is over it waits for the lock that is held here.
 */
const restartRunnerIfQuarantineDiffers = async ({ client, group, nextSchema }: Build) => {
  const schema = schemaOf(group)
  const [serving, next] = [await readQuarantine(client, schema), await readQuarantine(client, nextSchema)]
  if (quarantineKey(serving) !== quarantineKey(next)) await endLeaderSession(client, locks.runner(schema))
}

/** Renames the new schema to the serving one. The old one is not dropped here: that would wait for its slowest reader. */
const renameSchemas = async (build: Build): Promise<void> => {
  const { client, group, nextSchema } = build
  const schema = schemaOf(group)
  const existing = await schemasOf(client, group)
  let number = 0
  while (existing.includes(oldSchemaOf(group, number))) number += 1
  await client.query('begin')
  try {
    await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`)
    await restartRunnerIfQuarantineDiffers(build)
    await client.query(`alter schema ${schema} rename to ${oldSchemaOf(group, number)}`)
    await client.query(`alter schema ${nextSchema} rename to ${schema}`)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/**
 * Deletes the rows that deletions have left behind, before the schema serves. What the last events before the swap leave
 * behind is swept later, by the process of erasure.
 */
const sweep = async ({ client, group, nextSchema, signal }: Build): Promise<void> => {
  while (await group.sweep?.(client, nextSchema)) signal?.throwIfAborted()
}

/** Runs `work` while the runner of the read models that serve applies nothing. */
const whileRunnerWaits = async <T>({ client, group }: Build, work: () => Promise<T>): Promise<T> => {
  const lock = locks.swap(schemaOf(group))
  await client.query('select pg_advisory_lock(hashtext($1))', [lock])
  try {
    return await work()
  } finally {
    await client.query('select pg_advisory_unlock(hashtext($1))', [lock]).catch(() => {})
  }
}

/** Stops the runner for the last events and the renaming only; tries again when a reader holds a lock on the schema. */
const swap = async (build: Build): Promise<void> => {
  for (;;) {
    try {
      return await whileRunnerWaits(build, async () => {
        await catchUp(build)
        await renameSchemas(build)
      })
    } catch (error) {
      if (!hasSqlState(error, SqlState.lockNotAvailable)) throw error
    }
    await pause(RETRY_MS, build.signal)
  }
}

/** So many chunks are swept while the runner waits, before it has its turn again. */
const SWEEPS_WHILE_WAITING = 10

/** Sweeps both schemas, at most so many chunks; gives whether nothing is left. */
const sweepBoth = async ({ client, group, nextSchema, signal }: Build, chunks = Infinity): Promise<boolean> => {
  for (const schema of [schemaOf(group), nextSchema])
    while (await group.sweep?.(client, schema)) {
      signal?.throwIfAborted()
      chunks -= 1
      if (chunks <= 0) return false
    }
  return true
}

/** Runs `work` when both schemas have applied the same events, and deletions have left no rows behind in either. */
const atSamePosition = async <T>(build: Build, work: () => Promise<T>): Promise<T> => {
  for (;;) {
    await catchUp(build)
    await sweepBoth(build)
    const found = await whileRunnerWaits(build, async () => {
      await catchUp(build)
      return (await sweepBoth(build, SWEEPS_WHILE_WAITING)) ? { result: await work() } : undefined
    })
    if (found) return found.result
  }
}

/** Drops the schemas that earlier rebuilds have left or replaced. One that is still being read stays until the next time. */
const dropLeftOvers = async ({ client }: LeaderSession, group: Group) => {
  const lock = locks.rebuild(schemaOf(group)) // held by this very session, so it keeps nothing from being dropped
  for (const schema of await schemasOf(client, group)) {
    const { version, serves } = parseSchema(group, schema)!
    if (version !== group.version || serves) continue
    await dropUnlessLocked(client, schema, lock).catch((error: unknown) => {
      if (!hasSqlState(error, SqlState.lockNotAvailable)) throw error
    })
  }
}

/** Read models that were built from the log beside those that serve, to a position that these had reached. */
export type Replica = {
  readonly schema: string
  /**
   * Runs `work`, which has to be short, when both have applied the same events and hold no rows of deleted traces; the read
   * models that serve stand still meanwhile.
   */
  atSamePosition<T>(work: () => Promise<T>): Promise<T>
  /** Puts the replica in the place of those that serve. */
  swap(): Promise<void>
}

const replicaOf = (build: Build): Replica => ({
  schema: build.nextSchema,
  atSamePosition: (work) => atSamePosition(build, work),
  swap: async () => {
    await finishSchema(build.client, build.group, build.nextSchema)
    await catchUp(build)
    await sweep(build)
    await assertEpoch(build.log, build.epoch)
    await swap(build)
  },
})

/**
 * Builds read models of the same version beside those that serve, and gives them to `work`. Unless it swaps them they are
 * dropped afterwards.
 * @throws RebuildBlocked when another rebuild is running, or a query still reads a schema that an earlier one has left
 */
export const withReplica = async <T>(options: RebuildOptions, work: (replica: Replica) => Promise<T>): Promise<T> => {
  const { url, group, log, codec, signal = new AbortController().signal } = options
  const schema = schemaOf(group)
  const nextSchema = nextSchemaOf(group)
  await assertSameLog(url, log)
  const leader = await openLeaderSession(url, newApplyingClient(url, nextSchema))
  const { client } = leader
  try {
    const busy = new AbortController()
    const isOurs = await leader.acquire(locks.rebuild(schema), AbortSignal.any([busy.signal, signal]), () =>
      busy.abort(),
    )
    if (!isOurs) throw new RebuildBlocked('another rebuild is running')
    await holdUseLock(client, schema)
    await dropLeftOvers(leader, group)
    if ((await schemasOf(client, group)).includes(nextSchema))
      throw new RebuildBlocked('what an earlier rebuild has left behind is still being read; try again later')
    await ensureSchema(client, group, nextSchema)
    const { epoch } = await log.identity()
    const target = { client, group, schema: nextSchema }
    const applier = await newBatchApplier({ target, log, codec, epoch, report: () => {} })
    const build: Build = { ...options, client, nextSchema, applier, epoch }
    await catchUp(build)
    await sweep(build)
    const result = await work(replicaOf(build))
    await dropLeftOvers(leader, group)
    return result
  } finally {
    await leader.close()
  }
}

/**
 * Builds read models of the same version beside those that serve, and puts them in their place by renaming schemas: open
 * queries finish on the old schema, prepared statements are planned again. Only the last batch holds up the runner.
 * @throws RebuildBlocked when another rebuild is running, or a query still reads a schema that an earlier one has left
 */
export const rebuild = (options: RebuildOptions): Promise<void> => withReplica(options, ({ swap }) => swap())
