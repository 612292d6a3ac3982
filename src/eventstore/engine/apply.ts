import assert from 'node:assert'
import type { Writable } from 'node:stream'
import type pg from 'pg'
import { type Step, advance } from './checkpoint.ts'
import type { Group } from './group.ts'
import {
  type Backlog,
  type DecodedEvent,
  type Portion,
  type ReadRows,
  type WriteStatement,
  projectAll,
} from './projection.ts'
import { locks } from './schema.ts'

/** Where events are applied. `schema` is on the search path of the client. */
export type Target = { readonly client: pg.Client; readonly group: Group; readonly schema: string }

/** Buffers writes to the connection until the returned function is called: one system call for many statements. */
const cork = (client: pg.Client): (() => void) => {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection
  stream.cork()
  return () => stream.uncork()
}

/** Sends statements. Only `read` waits for an answer; `settled` waits for all of them, and returns the first error. */
export const newSender = (client: pg.Client) => {
  const sent: Promise<unknown>[] = []
  const sending = (query: string | pg.QueryConfig): Promise<pg.QueryResult> => {
    const answer = client.query(query)
    answer.catch(() => {}) // it may be settled before anybody waits for it
    sent.push(answer)
    return answer
  }
  const send = (query: string | pg.QueryConfig) => void sending(query)
  const write: WriteStatement = (name, text, values) => send({ name, text, values: [...values] })
  const read: ReadRows = async <Row extends object>(name: string, text: string, values: readonly unknown[]) =>
    (await sending({ name, text, values: [...values] })).rows as Row[]
  const settled = async (): Promise<{ error: unknown } | undefined> => {
    const failed = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected')
    return failed && { error: (failed as PromiseRejectedResult).reason }
  }
  return { send, read, write, settled, session: client }
}

/**
 * Begins a transaction that applies events. The lock is shared by all batches; a swap of schemas and a replay of a stream
 * take it exclusively. Events that may take rights away are committed durably, so that a crash of PostgreSQL cannot
 * give those rights back; the connection commits all others asynchronously.
 */
export const beginStatements = ({ group, schema }: Target, events: readonly { readonly type: string }[]): string => {
  const mayBeUndone = events.every(({ type }) => group.mayBeUndone?.has(type))
  const lock = `select pg_advisory_xact_lock_shared(hashtext('${locks.swap(schema)}'))`
  return ['begin', lock, ...(mayBeUndone ? [] : ['set local synchronous_commit = on'])].join('; ')
}

/** About how many bytes of events are written to the connection before the event loop runs other work. */
const PIECE_BYTES = 512 * 1024
/** With more pieces than this, each waits for the answers to the one before. */
const MANY_PIECES = 8

/**
 * Cuts a batch into pieces of about `PIECE_BYTES`. Most batches are one piece. Where an append is cut depends on that append alone, so a
 * projection gets the same pieces of it in any batch.
 */
export const piecesOf = (events: readonly DecodedEvent[]): DecodedEvent[][] => {
  const pieces: DecodedEvent[][] = [[]]
  let [bytes, ofAppend] = [0, 0]
  for (const event of events) {
    const last = pieces.at(-1)!.at(-1)
    const isInside = last?.appendId === event.appendId && last.stream === event.stream
    if (!isInside) ofAppend = 0
    if ((isInside ? ofAppend : bytes) > PIECE_BYTES) {
      pieces.push([])
      bytes = ofAppend = 0
    }
    pieces.at(-1)!.push(event)
    bytes += event.bytes
    ofAppend += event.bytes
  }
  return pieces
}

const nextTurn = () => new Promise<undefined>((resolve) => setImmediate(resolve, undefined))

type Statement = string | pg.QueryConfig

/** Sends the statements of a piece in one system call, with `before` before them and `after` behind those that read nothing. */
const sendPiece = (
  { client, group }: Target,
  sender: ReturnType<typeof newSender>,
  piece: readonly DecodedEvent[],
  { before, after }: { readonly before: readonly Statement[]; readonly after: readonly Statement[] },
): Promise<unknown> | undefined => {
  const uncork = cork(client)
  try {
    if (!group.isLazy) for (const event of piece) assert(event.data) // decodes the data, also of events that are ignored, to find bad data
    for (const statement of before) sender.send(statement)
    const derived = projectAll(group.projections, piece, sender)
    if (!derived) for (const statement of after) sender.send(statement)
    return derived?.then(() => after.forEach((statement) => sender.send(statement)))
  } finally {
    uncork()
  }
}

/**
 * Applies whole appends to a schema of the group, in one transaction with the checkpoint. Statements are sent without waiting for answers,
 * except for projections that read. Between two pieces the event loop runs other work. If there are many pieces, each waits for the
 * answers to the one before, so that unanswered statements take the memory of one piece at most.
 * @throws the first error of PostgreSQL or of a projection; the transaction is rolled back
 */
export const applyBatch = async (target: Target, events: readonly DecodedEvent[], step: Step): Promise<void> => {
  const { client, group } = target
  const sender = newSender(client)
  const { send, settled } = sender
  const pieces = group.isLazy ? [events] : piecesOf(events)
  const pause = pieces.length > MANY_PIECES ? settled : nextTurn
  for (const [i, piece] of pieces.entries()) {
    if (i > 0 && (await pause())) {
      send('rollback')
      break
    }
    const before = i === 0 ? [beginStatements(target, events), advance(step)] : []
    const after = i === pieces.length - 1 ? ['commit'] : []
    try {
      await sendPiece(target, sender, piece, { before, after })
    } catch (error) {
      send('rollback')
      throw ((await settled()) ?? { error }).error
    }
  }
  const failed = await settled()
  if (failed) throw failed.error
}

/**
 * Does a portion of the work that batches have left, in a transaction of its own. Returns false if none was left.
 * @throws the first error of PostgreSQL or of the projection, after `onFailure`; the transaction is rolled back
 */
export const workOff = async (
  target: Target,
  backlog: Backlog,
  {
    mostRows,
    onFailure,
  }: { readonly mostRows?: number | undefined; readonly onFailure?: (portion: Portion) => void } = {},
): Promise<boolean> => {
  const { client, schema } = target
  const sender = newSender(client)
  let portion: Portion | undefined
  let thrown: { error: unknown } | undefined
  sender.send(`${beginStatements(target, [])}; set local search_path = ${schema}`)
  try {
    portion = await backlog.next(sender, mostRows)
    await portion?.work()
    sender.send('commit')
  } catch (error) {
    thrown = { error }
    sender.send('rollback')
  }
  const failed = (await sender.settled()) ?? thrown
  if (!failed) return portion !== undefined
  if (portion) onFailure?.(portion)
  throw failed.error
}
