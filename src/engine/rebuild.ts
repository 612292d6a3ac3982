import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { type EventLog, LogChanged, type RecordedEvent } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'
import { newApplyingClient } from '../postgres/connect.ts'
import { type Leader, endLeader, openLeader } from '../postgres/leader.ts'
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
const LOCK_MS = 200
const AGAIN_MS = 300
const NOT_AVAILABLE = '55P03'

export type RebuildOptions = {
  readonly url: string
  readonly group: Group
  readonly log: EventLog
  readonly codec: Codec
  /** Called after each batch with how far the new schema has come, and how far it has to go. */
  readonly progress?: (position: bigint, goal: bigint) => void
  /** How far the new read models have to come: to where the present ones stand, or to the end of the log. */
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

/** In another epoch the goal stands for other events than those that were read up to it. @throws LogChanged */
const assertEpoch = async (log: EventLog, epoch: string) => {
  if ((await log.identity()).epoch !== epoch) throw new LogChanged()
}

/** Applies the log to the new schema up to a position, batch by batch. */
const catchUp = async (build: Build): Promise<void> => {
  const { client, nextSchema: side, applier: follower, log, epoch, progress, signal } = build
  const goal = await goalOf(build)
  let { position } = await readCheckpoint(client, side)
  let batch: RecordedEvent[] = []
  const flush = async (through: bigint) => {
    signal?.throwIfAborted()
    if (through <= position) return
    await follower.apply(batch, position, through)
    position = through
    batch = []
    progress?.(position, goal)
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
 * A runner keeps the streams in quarantine in memory, so as to leave their events aside: where the new read models have
 * others, its session is ended, and it begins again from what is stored. It waits for the lock that is held here.
 */
const correctRunner = async ({ client, group, nextSchema: side }: Build) => {
  const schema = schemaOf(group)
  const [served, fresh] = [await readQuarantine(client, schema), await readQuarantine(client, side)]
  if (quarantineKey(served) !== quarantineKey(fresh)) await endLeader(client, locks.runner(schema))
}

/** Puts the new schema into the old one's place. Nothing is dropped here: that would wait for the slowest reader. */
const rename = async (build: Build): Promise<void> => {
  const { client, group, nextSchema: side } = build
  const schema = schemaOf(group)
  const there = await schemasOf(client, group)
  let number = 0
  while (there.includes(oldSchemaOf(group, number))) number += 1
  await client.query('begin')
  try {
    await client.query(`set local lock_timeout = ${LOCK_MS}`)
    await correctRunner(build)
    await client.query(`alter schema ${schema} rename to ${oldSchemaOf(group, number)}`)
    await client.query(`alter schema ${side} rename to ${schema}`)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/**
 * Takes away what deletions have left behind, before anything serves it. What the last events leave is swept where the
 * schema serves, as for every other deletion.
 */
const sweep = async ({ client, group, nextSchema: side, signal }: Build): Promise<void> => {
  while (await group.sweep?.(client, side)) signal?.throwIfAborted()
}

/** Holds up the runner for the last events and the renaming only; tries again when the schema is in use for a moment. */
const swap = async (build: Build): Promise<void> => {
  const { client, group } = build
  const lock = locks.swap(schemaOf(group))
  for (;;) {
    await client.query('select pg_advisory_lock(hashtext($1))', [lock])
    try {
      await catchUp(build)
      return await rename(build)
    } catch (error) {
      if ((error as { code?: string }).code !== NOT_AVAILABLE) throw error
    } finally {
      await client.query('select pg_advisory_unlock(hashtext($1))', [lock]).catch(() => {})
    }
    await sleep(AGAIN_MS)
  }
}

/** What earlier rebuilds have left or replaced. What is still being read stays, for the next time. */
const dropLeftOvers = async ({ client }: Leader, group: Group) => {
  const lock = locks.rebuild(schemaOf(group)) // ours: it guards nothing against ourselves
  for (const schema of await schemasOf(client, group)) {
    const { version, serves } = parseSchema(group, schema)!
    if (version !== group.version || serves) continue
    await dropUnlessLocked(client, schema, lock).catch((error: { code?: string }) => {
      if (error.code !== NOT_AVAILABLE) throw error
    })
  }
}

/**
 * Builds the read models of the running version anew beside those that serve, and puts them in their place by renaming:
 * open readers pass, prepared statements plan anew. Only the last batch holds up the runner.
 * @throws RebuildHeldUp when another one is running, or what an earlier one has left is still being read
 */
export const rebuild = async (options: RebuildOptions): Promise<void> => {
  const { url, group, log, codec, signal = new AbortController().signal } = options
  const schema = schemaOf(group)
  const side = nextSchemaOf(group)
  await assertSameLog(url, log)
  const leader = await openLeader(url, newApplyingClient(url, side))
  const { client } = leader
  try {
    const busy = new AbortController()
    const isOurs = await leader.acquire(locks.rebuild(schema), AbortSignal.any([busy.signal, signal]), () =>
      busy.abort(),
    )
    if (!isOurs) throw new RebuildBlocked('another rebuild is running')
    await holdUseLock(client, schema)
    await dropLeftOvers(leader, group)
    if ((await schemasOf(client, group)).includes(side))
      throw new RebuildBlocked('what an earlier rebuild has left behind is still being read; try again later')
    await ensureSchema(client, group, side)
    const { epoch } = await log.identity()
    const target = { client, group, schema: side }
    const follower = await newBatchApplier({ target, log, codec, epoch, report: () => {} })
    const build: Build = { ...options, client, nextSchema: side, applier: follower, epoch }
    await catchUp(build)
    await sweep(build)
    await finishSchema(client, group, side)
    await catchUp(build)
    await sweep(build)
    await assertEpoch(log, epoch)
    await swap(build)
    await dropLeftOvers(leader, group)
  } finally {
    await leader.close()
  }
}
