import type { EventLog, RecordedEvent } from '../log/log.ts'
import { SqlState, hasSqlState } from '../postgres/sql-state.ts'
import { type Target, applyBatch, workOff } from './apply.ts'
import { applyByAppend } from './apply-by-append.ts'
import { type Step, advance, anchorOf, readCheckpoint, untilReached } from './checkpoint.ts'
import type { Codec } from './codec.ts'
import { decodeLazily } from './decode-event.ts'
import { schemaOf } from './group.ts'
import type { Backlog, Portion } from './projection.ts'
import { isRetryable } from './retryable-errors.ts'
import { type QuarantinedStream, insertQuarantined, quarantinedBy, readQuarantine } from './quarantine.ts'
import { replayStream } from './replay.ts'
import { locks, schemasOf } from './schema.ts'
import { isSkipDecision } from './skip-events.ts'
import { streamIdOf } from './stream.ts'

const MAX_QUARANTINED = 10
const PERIOD_MS = 60_000

/** Too many streams cannot be applied. This is probably a bug and not bad data, so projecting stops. */
export class TooManyQuarantined extends Error {
  override readonly name = 'TooManyQuarantined'
}

/** Applies the log to one schema, batch by batch, without the streams in quarantine. */
export type BatchApplier = {
  /**
   * Applies the events between two positions.
   * @throws TooManyQuarantined
   * @throws errors that may pass (`isRetryable`)
   */
  apply(events: readonly RecordedEvent[], from: bigint, through: bigint): Promise<void>
  /**
   * Does a portion of the work that batches have left. Returns false if none was left. If a row cannot be written, its stream goes into
   * quarantine. @throws like `apply`
   */
  workOff(): Promise<boolean>
  quarantine(): readonly QuarantinedStream[]
}

type BatchApplierOptions = {
  readonly target: Target
  readonly log: EventLog
  readonly codec: Codec
  readonly epoch: string
  /** Called for each stream that goes into quarantine. */
  readonly report: (culprit: QuarantinedStream) => void
}

/** Streams in quarantine in other schemas of the group: here they do not count towards `TooManyQuarantined` again. */
const quarantinedInOtherSchemas = async ({ client, group, schema }: Target): Promise<Set<string>> => {
  const streams = new Set<string>()
  for (const other of await schemasOf(client, group)) {
    const { rows } = await client.query(`select to_regclass('${other}.quarantine') is not null as exists`)
    if (other === schema || !rows[0].exists) continue
    for (const { stream } of await readQuarantine(client, other).catch(emptyIfDropped)) streams.add(stream)
  }
  return streams
}

/** Another process may drop a schema of an earlier rebuild at any time. */
const emptyIfDropped = (error: unknown): QuarantinedStream[] => {
  if (hasSqlState(error, SqlState.undefinedTable, SqlState.invalidSchemaName)) return []
  throw error
}

/** The stored list. Waits for a running replay, which changes the list after it has ended the runner's session. */
const readStored = async ({ client, schema }: Target): Promise<QuarantinedStream[]> => {
  await client.query('begin')
  await client.query('select pg_advisory_xact_lock_shared(hashtext($1))', [locks.swap(schema)])
  const stored = await readQuarantine(client, schema)
  await client.query('commit')
  return stored
}

/** Splits a batch so that each decision to skip an event is a run of its own. */
const runsOf = (events: readonly RecordedEvent[]): RecordedEvent[][] => {
  const runs: RecordedEvent[][] = []
  for (const event of events) {
    const last = runs.at(-1)
    if (last && !isSkipDecision(event) && !isSkipDecision(last[0]!)) last.push(event)
    else runs.push([event])
  }
  return runs
}

export const newBatchApplier = async (options: BatchApplierOptions): Promise<BatchApplier> => {
  const { target, log, codec, epoch, report } = options
  const { client, schema } = target
  const streams = new Map((await readStored(target)).map((one) => [one.stream, one]))
  const quarantinedElsewhere = await quarantinedInOtherSchemas(target)
  let recent: number[] = []

  const accept = ({ stream, reason }: QuarantinedStream) => {
    if (quarantinedElsewhere.has(stream)) return
    const now = performance.now()
    recent = [...recent.filter((time) => now - time < PERIOD_MS), now]
    if (recent.length > MAX_QUARANTINED)
      throw new TooManyQuarantined(
        `events of more than ${MAX_QUARANTINED} streams cannot be applied, the last one because of: ${reason}`,
      )
  }

  const applyRun = async (events: readonly RecordedEvent[], step: Step) => {
    const applicable = events.filter((event) => !isSkipDecision(event) && !streams.has(event.stream))
    try {
      const decoded = applicable.map((event) => decodeLazily(codec, event))
      await applyBatch(target, decoded, step)
    } catch (error) {
      if (isRetryable(error)) throw error
      for (const culprit of await applyByAppend(target, codec, applicable, step, accept)) {
        streams.set(culprit.stream, culprit)
        report(culprit)
      }
    }
  }

  /** Replays a stream after the decision to skip one of its events. */
  const replay = async (decision: RecordedEvent, step: Step) => {
    const { stream } = codec.decode(decision).data as { stream: string }
    try {
      await client.query('begin')
      await client.query('select pg_advisory_xact_lock_shared(hashtext($1))', [locks.swap(schema)])
      await client.query(advance(step))
      const culprit = await replayStream(target, { log, codec }, stream, decision.position)
      await client.query('commit')
      streams.delete(stream)
      if (!culprit) return
      streams.set(stream, culprit)
      report(culprit)
    } catch (error) {
      await client.query('rollback').catch(() => {})
      throw error
    }
  }

  const apply = async (events: readonly RecordedEvent[], from: bigint, through: bigint) => {
    const { behind } = target.group
    if (behind && events.length > 0) await untilReached(client, schemaOf(behind), through)
    const runs = runsOf(events)
    let position = from
    for (const [i, run] of runs.entries()) {
      const step = {
        from: position,
        through: i === runs.length - 1 ? through : run.at(-1)!.position,
        epoch,
        anchor: anchorOf(run),
      }
      await (isSkipDecision(run[0]!) ? replay(run[0]!, step) : applyRun(run, step))
      position = step.through
    }
    if (runs.length === 0) await applyRun([], { from, through, epoch, anchor: undefined })
  }

  /** Puts the stream of a row that cannot be written into quarantine. */
  const putIntoQuarantine = async (
    backlog: Backlog,
    { stream, position }: NonNullable<Portion['first']>,
    error: unknown,
  ) => {
    const [event] = await Array.fromAsync(log.readAll({ after: position - 1n, limit: 1 }))
    const culprit = quarantinedBy(event!, error)
    accept(culprit)
    await client.query('begin')
    await client.query(insertQuarantined(culprit))
    backlog.drop(streamIdOf({ stream }), (_, text, values) => void client.query(text, [...values]))
    await client.query('commit')
    streams.set(stream, culprit)
    report(culprit)
  }

  let isBehindReached = false
  /** Rows of the other group that have not been applied yet, as those of a new version of it, cannot be read. */
  const untilBehindReached = async () => {
    const { behind } = target.group
    if (behind && !isBehindReached)
      await untilReached(client, schemaOf(behind), (await readCheckpoint(client, schema)).position)
    isBehindReached = true
  }

  /** Does a portion; one that fails is repeated row by row, until a row fails. */
  const workOffPortion = async (backlog: Backlog, mostRows?: number): Promise<boolean> => {
    let failed: Portion | undefined
    try {
      return await workOff(target, backlog, { mostRows, onFailure: (portion) => (failed = portion) })
    } catch (error) {
      if (isRetryable(error) || !failed?.first) throw error
      if (failed.rows === 1) await putIntoQuarantine(backlog, failed.first, error)
      else for (let row = 0; row < failed.rows; row++) await workOffPortion(backlog, 1)
      return true
    }
  }

  const workOffAny = async () => {
    for (const { backlog } of target.group.projections) {
      if (!backlog) continue
      await untilBehindReached()
      if (await workOffPortion(backlog)) return true
    }
    return false
  }

  return { apply, workOff: workOffAny, quarantine: () => [...streams.values()] }
}
