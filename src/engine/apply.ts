import assert from 'node:assert'
import type { Writable } from 'node:stream'
import type pg from 'pg'
import type { RecordedEvent } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'
import { newApplyingClient } from '../postgres/connect.ts'
import { type Anchor, type Step, advance } from './checkpoint.ts'
import type { Codec } from './codec.ts'
import { isRetryable } from './retryable-errors.ts'
import type { Group } from './group.ts'
import { type DecodedEvent, SKIPPED, project } from './projection.ts'
import { type QuarantinedStream, isSkipDecision, insertQuarantined, quarantinedBy } from './quarantine.ts'
import { locks } from './schema.ts'
import { streamIdOf } from './stream.ts'

/** Decodes an event for projections. @throws UnknownEvent for a type or version that this code does not know */
export const decodeEvent = (codec: Codec, event: RecordedEvent): DecodedEvent => ({
  ...envelopeOf(event),
  data: codec.decode(event).data,
})

/**
 * The same, but the data is parsed when it is first read: caches need the data of few events.
 * @throws UnknownEvent at once for an unknown type or version, at the first read for data that does not fit its schema
 */
export const decodeLazily = (codec: Codec, event: RecordedEvent): DecodedEvent => {
  codec.assertKnown(event)
  let data: object | undefined
  const get = () => (data ??= codec.decode(event).data)
  return Object.defineProperty(envelopeOf(event) as DecodedEvent, 'data', { get, enumerable: true })
}

const envelopeOf = (event: RecordedEvent): Omit<DecodedEvent, 'data'> => {
  const { at, actor } = metadataOf(event)
  const { type, stream, revision, position } = event
  return { type, streamId: streamIdOf(event), stream, revision, position, at, actor, bytes: event.data.length }
}

export const anchorOf = (events: readonly Pick<RecordedEvent, 'position' | 'id'>[]): Anchor | undefined => {
  const last = events.at(-1)
  return last && { position: last.position, id: last.id }
}

/** Where a batch is applied: `schema` is on the search path of the client. */
export type Target = { readonly client: pg.Client; readonly group: Group; readonly schema: string }

/** A connection whose transactions may be lost with the server: they are replayed from the checkpoint. */
export const connectForApplying = async (url: string, schema: string): Promise<pg.Client> => {
  const client = newApplyingClient(url, schema)
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Lets what is written to a connection leave in one piece: a batch of statements costs one system call, not a dozen. */
const cork = (client: pg.Client): (() => void) => {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection
  stream.cork()
  return () => stream.uncork()
}

/** Sends statements without waiting; `settled` gives the first that failed. */
const newSender = (client: pg.Client) => {
  const sent: Promise<unknown>[] = []
  const send = (query: string | pg.QueryConfig) => void sent.push(client.query(query))
  const settled = async (): Promise<{ error: unknown } | undefined> => {
    const failed = (await Promise.allSettled(sent)).find((outcome) => outcome.status === 'rejected')
    return failed && { error: failed.reason }
  }
  return { send, settled }
}

/**
 * A swap of schemas, or a replay of one stream, waits for this lock and is waited for by it. A crash of the server may take
 * the last batches along until they are applied again; what may take rights away must not be among them.
 */
const beginStatements = ({ group, schema }: Target, events: readonly { readonly type: string }[]) => {
  const mayWait = events.every(({ type }) => group.harmless?.has(type))
  const lock = `select pg_advisory_xact_lock_shared(hashtext('${locks.swap(schema)}'))`
  return ['begin', lock, ...(mayWait ? [] : ['set local synchronous_commit = on'])]
}

/** About as many bytes of events are written out without giving the turn to others. */
const PIECE_BYTES = 512 * 1024
const MANY_PIECES = 8

/** Cuts a batch where its events have come to so many bytes. Most batches are one piece. */
const piecesOf = (events: readonly DecodedEvent[]): DecodedEvent[][] => {
  const pieces: DecodedEvent[][] = [[]]
  let bytes = 0
  for (const event of events) {
    if (bytes > PIECE_BYTES) {
      pieces.push([])
      bytes = 0
    }
    pieces.at(-1)!.push(event)
    bytes += event.bytes
  }
  return pieces
}

/**
 * Applies whole appends to a schema of the group, in one transaction with the checkpoint. Statements are sent without
 * waiting and answered in order. Between two pieces others have their turn; many pieces wait for each other, so that what
 * is on its way to the server takes no more memory than one.
 */
export const applyBatch = async (target: Target, events: readonly DecodedEvent[], step: Step): Promise<void> => {
  const { client, group } = target
  const { send, settled } = newSender(client)
  const pieces = piecesOf(events)
  const pause =
    pieces.length > MANY_PIECES ? settled : () => new Promise<undefined>((resolve) => setImmediate(resolve, undefined))
  for (const [i, piece] of pieces.entries()) {
    if (i > 0 && (await pause())) {
      send('rollback')
      break
    }
    const release = cork(client)
    try {
      for (const event of piece) assert(event.data) // what cannot be read is not passed by, whoever ignores it
      if (i === 0) for (const statement of [...beginStatements(target, events), advance(step)]) send(statement)
      for (const projection of group.projections)
        project(projection, piece, (name, text, values) => send({ name, text, values: [...values] }))
      if (i === pieces.length - 1) send('commit')
    } catch (error) {
      send('rollback')
      release()
      await settled()
      throw error
    }
    release()
  }
  const failed = await settled()
  if (failed) throw failed.error
}

/** Ids of events that were passed over for good. */
export type Skipped = ReadonlySet<string>

const NONE: Skipped = new Set()

const skippedEvent = (event: RecordedEvent): DecodedEvent => {
  const { stream, revision, position } = event
  const place = { streamId: streamIdOf(event), stream, revision, position, at: metadataOf(event).at }
  return { type: SKIPPED, data: {}, ...place, actor: undefined, bytes: 0 }
}

/** Applies events within an open transaction; nothing of them stays when one of them cannot be applied. */
const tryApply = async (
  { client, group }: Target,
  codec: Codec,
  events: readonly RecordedEvent[],
  skipped: Skipped,
) => {
  const { send, settled } = newSender(client)
  send('savepoint append')
  let thrown: { error: unknown } | undefined
  try {
    const facts = events.map((event) => (skipped.has(event.id) ? skippedEvent(event) : decodeEvent(codec, event)))
    for (const projection of group.projections)
      project(projection, facts, (name, text, values) => send({ name, text, values: [...values] }))
  } catch (error) {
    thrown = { error }
  }
  const failed = (await settled()) ?? thrown
  if (!failed) return undefined
  if (isRetryable(failed.error)) throw failed.error
  await client.query('rollback to savepoint append')
  return failed
}

/** Of an append that cannot be applied the first event with which it fails, found by halves; nothing of it stays. */
const culpritOf = async (
  target: Target,
  codec: Codec,
  append: readonly RecordedEvent[],
  skipped: Skipped,
  first: { error: unknown },
) => {
  let [good, bad, failed] = [0, append.length, first] // how many events of the beginning pass, how many do not
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    const outcome = await tryApply(target, codec, append.slice(0, middle), skipped)
    if (outcome) [bad, failed] = [middle, outcome]
    else {
      await target.client.query('rollback to savepoint append')
      good = middle
    }
  }
  return quarantinedBy(append[bad - 1]!, failed.error)
}

/** Applies one append within an open transaction; gives what keeps it from being applied. @throws what may pass */
export const applyAppend = async (
  target: Target,
  codec: Codec,
  append: readonly RecordedEvent[],
  skipped: Skipped = NONE,
): Promise<QuarantinedStream | undefined> => {
  const failed = await tryApply(target, codec, append, skipped)
  const culprit = failed && (await culpritOf(target, codec, append, skipped, failed))
  await target.client.query('release savepoint append')
  return culprit
}

/** The appends of a batch, in order: each is of one stream. */
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
 * Applies a batch append by append, after it has failed as a whole: in one transaction with the checkpoint, streams whose
 * events cannot be applied go into quarantine, and everything else is applied. `accept` may throw to refuse it all.
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
    for (const statement of beginStatements(target, events)) await client.query(statement)
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

/** The events of a batch that projections get: those of streams that are not in quarantine. */
export const applicable = (events: readonly RecordedEvent[], isQuarantined: (stream: string) => boolean) =>
  events.filter((event) => !isSkipDecision(event) && !isQuarantined(event.stream))
