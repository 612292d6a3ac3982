import type { RecordedEvent } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'
import { type Target, beginStatements, newSender, piecesOf } from './apply.ts'
import { type Step, advance } from './checkpoint.ts'
import type { Codec } from './codec.ts'
import { decodeEvent, skippedEvent } from './decode-event.ts'
import { projectAll } from './projection.ts'
import { type QuarantinedStream, insertQuarantined, quarantinedBy } from './quarantine.ts'
import { isRetryable } from './retryable-errors.ts'

/** Ids of events that operators have skipped. */
type SkippedIds = ReadonlySet<string>

const NONE: SkippedIds = new Set()

/**
 * Applies events behind a savepoint of an open transaction. If one of them cannot be applied, rolls back to the savepoint and
 * returns the error. @throws errors that may pass (`isRetryable`)
 */
const tryApply = async (
  { client, group }: Target,
  codec: Codec,
  events: readonly RecordedEvent[],
  skipped: SkippedIds,
) => {
  const sender = newSender(client)
  sender.send('savepoint append')
  let thrown: { error: unknown } | undefined
  try {
    const decoded = events.map((event) => (skipped.has(event.id) ? skippedEvent(event) : decodeEvent(codec, event)))
    for (const piece of group.isLazy ? [decoded] : piecesOf(decoded)) await projectAll(group.projections, piece, sender)
  } catch (error) {
    thrown = { error }
  }
  const failed = (await sender.settled()) ?? thrown
  if (!failed) return undefined
  if (isRetryable(failed.error)) throw failed.error
  await client.query('rollback to savepoint append')
  return failed
}

/** Finds the first event of an append that cannot be applied, by bisection. Leaves nothing of the append applied. */
const findCulprit = async (
  target: Target,
  codec: Codec,
  append: readonly RecordedEvent[],
  skipped: SkippedIds,
  first: { error: unknown },
) => {
  // The first `good` events can be applied, the first `bad` events cannot, because of `failed`.
  let good = 0
  let bad = append.length
  let failed = first
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    const result = await tryApply(target, codec, append.slice(0, middle), skipped)
    if (result) {
      bad = middle
      failed = result
    } else {
      await target.client.query('rollback to savepoint append')
      good = middle
    }
  }
  return quarantinedBy(append[bad - 1]!, failed.error)
}

/**
 * Applies one append within an open transaction. If an event cannot be applied, applies nothing of the append and returns that
 * event. @throws errors that may pass (`isRetryable`)
 */
export const applyAppend = async (
  target: Target,
  codec: Codec,
  append: readonly RecordedEvent[],
  skipped: SkippedIds = NONE,
): Promise<QuarantinedStream | undefined> => {
  const failed = await tryApply(target, codec, append, skipped)
  const culprit = failed && (await findCulprit(target, codec, append, skipped, failed))
  await target.client.query('release savepoint append')
  return culprit
}

/** The appends of a batch, in order. */
export const appendsOf = (events: readonly RecordedEvent[]): RecordedEvent[][] => {
  const appends: RecordedEvent[][] = []
  for (const event of events) {
    const last = appends.at(-1)?.[0]
    const isSame = last?.stream === event.stream && metadataOf(last).append.id === metadataOf(event).append.id
    if (isSame) appends.at(-1)!.push(event)
    else appends.push([event])
  }
  return appends
}

/**
 * Applies a batch append by append, after it has failed as a whole, in one transaction with the checkpoint. Streams with an event
 * that cannot be applied go into quarantine and are returned; everything else is applied.
 * @throws an error of `accept`, which is called for each of these streams; then nothing is applied
 */
export const applyByAppend = async (
  target: Target,
  codec: Codec,
  events: readonly RecordedEvent[],
  step: Step,
  accept: (culprit: QuarantinedStream) => void,
): Promise<QuarantinedStream[]> => {
  const { client } = target
  const added = new Map<string, QuarantinedStream>()
  try {
    await client.query(beginStatements(target, events))
    await client.query(advance(step))
    for (const append of appendsOf(events)) {
      if (added.has(append[0]!.stream)) continue
      const culprit = await applyAppend(target, codec, append)
      if (!culprit) continue
      accept(culprit)
      added.set(culprit.stream, culprit)
      await client.query(insertQuarantined(culprit))
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
  return [...added.values()]
}
