import type pg from 'pg'
import { pause } from '../../base/waits.ts'
import type { EventLog, RecordedEvent } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'
import { newApplyingClient } from '../postgres/connect.ts'
import { type LeaderSession, endLeaderSession, openLeaderSession } from '../postgres/leader.ts'
import { SqlState, hasSqlState } from '../postgres/sql-state.ts'
import { readCheckpoint } from './checkpoint.ts'
import type { Codec } from './codec.ts'
import { workOff } from './apply.ts'
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
  /** Called after each batch with the new schema's position, its goal, and the number of events in the batch. */
  readonly progress?: (position: bigint, goal: bigint, events: number) => void
  /** The goal of the new read models: the checkpoint of those in use (default), or the log's head. */
  readonly upTo?: 'served' | 'head'
  readonly signal?: AbortSignal
}

const lengthOf = (events: readonly RecordedEvent[]) => events.reduce((sum, event) => sum + event.data.length, 0)

const closesAppend = (event: RecordedEvent) => {
  const { index, size } = metadataOf(event).append
  return index === size - 1
}

type Build = RebuildOptions & {
  readonly client: pg.Client
  readonly nextSchema: string
  readonly applier: BatchApplier
}

/** Applies the log to the new schema up to the goal, batch by batch. */
const catchUp = async (build: Build): Promise<void> => {
  const { client, nextSchema, applier, log, progress, signal } = build
  const goal = await goalOf(build)
  let { position } = await readCheckpoint(client, nextSchema)
  let batch: RecordedEvent[] = []
  const flush = async (through: bigint) => {
    signal?.throwIfAborted()
    if (through <= position) return
    await applier.apply(batch, position, through)
    position = through
    while (await applier.workOff()) signal?.throwIfAborted()
    progress?.(position, goal, batch.length)
    batch = []
  }
  for await (const event of log.readAll({ after: position })) {
    if (event.position > goal) break
    batch.push(event)
    const isFull = batch.length >= BATCH_EVENTS || lengthOf(batch) >= BATCH_LENGTH
    if (isFull && closesAppend(event)) await flush(event.position)
  }
  await log.identity() // in another epoch, in which it throws, the position of the goal may belong to another event
  await flush(goal)
}

const goalOf = async ({ client, group, log, upTo = 'served' }: Build): Promise<bigint> =>
  upTo === 'head' ? log.head() : (await readCheckpoint(client, schemaOf(group))).position

/**
 * Ends the runner's session if the new read models have other streams in quarantine: the runner has the list in memory, and reads
 * the stored list when it starts again. Until the swap is over it waits for the lock that is held here.
 */
const restartRunnerIfQuarantineDiffers = async ({ client, group, nextSchema }: Build) => {
  const schema = schemaOf(group)
  const [serving, next] = [await readQuarantine(client, schema), await readQuarantine(client, nextSchema)]
  if (quarantineKey(serving) !== quarantineKey(next)) await endLeaderSession(client, locks.runner(schema))
}

/** Renames the new schema to the name in use. Does not drop the old one, which would wait for its slowest query. */
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
 * Deletes orphaned rows before the schema comes into use. Those of the last events before the swap are deleted later, by the process
 * of erasure.
 */
const sweep = async ({ client, group, nextSchema, signal }: Build): Promise<void> => {
  while (await group.sweep?.(client, nextSchema)) signal?.throwIfAborted()
}

/** Runs `work` while the runner of the read models in use applies nothing. */
const whileRunnerWaits = async <T>({ client, group }: Build, work: () => Promise<T>): Promise<T> => {
  const lock = locks.swap(schemaOf(group))
  await client.query('select pg_advisory_lock(hashtext($1))', [lock])
  try {
    return await work()
  } finally {
    await client.query('select pg_advisory_unlock(hashtext($1))', [lock]).catch(() => {})
  }
}

/** Stops the runner only for the last events and the renaming. Tries again while a query holds a lock on the schema. */
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

/** How many chunks are deleted, and how many portions of work are done, while the runner waits, before it may go on. */
const SWEEPS_WHILE_WAITING = 10

/** Deletes orphaned rows from both schemas, at most `chunks` chunks. Returns whether none are left. */
const sweepBoth = async ({ client, group, nextSchema, signal }: Build, chunks = Infinity): Promise<boolean> => {
  for (const schema of [schemaOf(group), nextSchema])
    while (await group.sweep?.(client, schema)) {
      signal?.throwIfAborted()
      chunks -= 1
      if (chunks <= 0) return false
    }
  return true
}

/** Does work that batches have left in the read models in use, while their runner waits. Returns whether none is left. */
const workOffServed = async ({ client, group }: Build): Promise<boolean> => {
  const target = { client, group, schema: schemaOf(group) }
  for (const { backlog } of group.projections) {
    let chunks = SWEEPS_WHILE_WAITING
    while (backlog && (await workOff(target, backlog))) if (--chunks <= 0) return false
  }
  return true
}

/** Runs `work` when both schemas have applied the same events, and have no orphaned rows and no work left. */
const atSamePosition = async <T>(build: Build, work: () => Promise<T>): Promise<T> => {
  for (;;) {
    await catchUp(build)
    await sweepBoth(build)
    const found = await whileRunnerWaits(build, async () => {
      await catchUp(build)
      const isDone = (await sweepBoth(build, SWEEPS_WHILE_WAITING)) && (await workOffServed(build))
      return isDone ? { result: await work() } : undefined
    })
    if (found) return found.result
  }
}

/** Drops the schemas that earlier rebuilds have left or replaced. If a query still reads one, it stays until the next time. */
const dropOldSchemas = async ({ client }: LeaderSession, group: Group) => {
  const lock = locks.rebuild(schemaOf(group)) // this session holds it, so it can take it again
  for (const schema of await schemasOf(client, group)) {
    const { version, serves } = parseSchema(group, schema)!
    if (version !== group.version || serves) continue
    await dropUnlessLocked(client, schema, lock).catch((error: unknown) => {
      if (!hasSqlState(error, SqlState.lockNotAvailable)) throw error
    })
  }
}

/** Read models that were built from the log beside those in use, up to a position that these had reached. */
export type Replica = {
  readonly schema: string
  /**
   * Runs `work`, which has to be short, when both have applied the same events and hold no rows of deleted traces. The read models
   * in use apply nothing meanwhile.
   */
  atSamePosition<T>(work: () => Promise<T>): Promise<T>
  /** Replaces the read models in use by the replica. */
  swap(): Promise<void>
}

const replicaOf = (build: Build): Replica => ({
  schema: build.nextSchema,
  atSamePosition: (work) => atSamePosition(build, work),
  swap: async () => {
    await finishSchema(build.client, build.group, build.nextSchema)
    await catchUp(build)
    await sweep(build)
    await build.log.identity()
    await swap(build)
  },
})

/**
 * Builds read models of the same version beside those in use, and passes them to `work`. They are dropped afterwards, unless `work`
 * swaps them.
 * @throws RebuildBlocked if another rebuild is running, or a query still reads a schema of an earlier one
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
    if (!isOurs) throw new RebuildBlocked('another rebuild is running: wait until it has ended')
    await holdUseLock(client, schema)
    await dropOldSchemas(leader, group)
    if ((await schemasOf(client, group)).includes(nextSchema))
      throw new RebuildBlocked('the schema of an earlier rebuild is still being read: try again later')
    await ensureSchema(client, group, nextSchema)
    const { epoch } = await log.identity()
    const target = { client, group, schema: nextSchema }
    const applier = await newBatchApplier({ target, log, codec, epoch, report: () => {} })
    const build: Build = { ...options, client, nextSchema, applier }
    await catchUp(build)
    await sweep(build)
    const result = await work(replicaOf(build))
    await dropOldSchemas(leader, group)
    return result
  } finally {
    await leader.close()
  }
}

/**
 * Builds read models of the same version beside those in use, and replaces these by renaming schemas: open queries finish on the old
 * schema, prepared statements are planned again. Only the last batch delays the runner.
 * @throws RebuildBlocked if another rebuild is running, or a query still reads a schema of an earlier one
 */
export const rebuild = (options: RebuildOptions): Promise<void> => withReplica(options, ({ swap }) => swap())
