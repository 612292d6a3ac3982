import type { ValueOf } from '../../contract/realtime.ts'
import { PUBLIC_TRACES, tracesNamed } from '../effects.ts'
import { Rejected, Unavailable } from '../../eventstore/engine/rejected.ts'
import type { Caller } from '../http/caller.ts'
import { HttpError } from '../http/http-error.ts'
import { jsonText } from '../http/json-text.ts'
import { jsonArray } from '../http/reply.ts'
import { BrokenOff } from '../http/long-list.ts'
import { PAGE_BYTES } from '../http/list-page.ts'
import { areAllIds, idsWithExternalId } from '../trace/external-ids.ts'
import { changedMessages } from '../trace/messages/changed.ts'
import { type MessagesToRead, messageChunks } from '../trace/messages/chunks.ts'
import { shownRow } from '../trace/model-names.ts'
import type { TraceName } from '../trace/locate.ts'
import { assertMayRead } from '../trace/policy.ts'
import { type StoredDetail, userRoleOf, resolveTrace, traceDetail } from '../trace/queries.ts'
import { messageText } from '../trace/messages/views.ts'
import { detailMembers } from '../trace/views.ts'
import { findCaller, keyOfToken, topicsOfCaller } from './caller.ts'
import { NOTHING, type QueryOf, keyOf, queryKind } from './question.ts'
import type { RealtimeServices } from './services.ts'

/** The trace, if it exists and the caller may read it; otherwise undefined. */
const readable = async (
  { reads }: Pick<RealtimeServices, 'reads'>,
  { externalId, namespace }: TraceName,
  caller: Caller | undefined,
): Promise<StoredDetail | undefined> => {
  try {
    const resolved = await resolveTrace(reads, externalId, caller, namespace)
    const detail = resolved && (await traceDetail(reads, resolved.id))
    if (!detail) return undefined
    assertMayRead(detail, userRoleOf(caller, resolved))
    return detail
  } catch (error) {
    if (error instanceof Rejected) return undefined
    throw error
  }
}

/** The trace that a caller names, and the topics of all events that may change which trace that is. */
const found = async (services: RealtimeServices, name: TraceName, token: string | undefined) => {
  const caller = await findCaller(services, token)
  const [ids, trace] = await Promise.all([
    idsWithExternalId(services.reads, name.externalId),
    readable(services, name, caller),
  ])
  const topics = [
    ...topicsOfCaller(caller),
    tracesNamed(name.externalId),
    ...ids,
    ...(areAllIds(ids) ? [] : [PUBLIC_TRACES]),
  ]
  if (trace) topics.push(trace.id)
  return { trace, userId: caller?.userId, rest: { topics, expiresAt: caller?.expiresAt } }
}

const TRACE_BYTES = 64 * 1024

type TraceValue = NonNullable<ValueOf<'traces:get'>>

/** TraceDetail with `revision`; null if the trace does not exist, or the caller may not read it. */
export const trace = queryKind('traces:get', (services, { externalId, namespace }, token) => ({
  key: keyOf('traces:get', keyOfToken(token), namespace, externalId),
  maxBytes: async () => TRACE_BYTES,
  ask: async () => {
    const { trace, rest } = await found(services, { externalId, namespace }, token)
    if (!trace) return { value: NOTHING, ...rest }
    const members = detailMembers(shownRow(await services.models.known(), trace))
    return { value: jsonText<TraceValue>({ ...members, revision: String(trace.revision) }), ...rest }
  },
}))

/** About how many bytes the messages of a trace take in one value. */
const bytesOf = (trace: StoredDetail | undefined) => (trace ? Math.min(Number(trace.bytes), PAGE_BYTES) : 0)

/** Every message of a trace, as JSON texts. @throws HttpError payload_too_large, Unavailable if a message changes meanwhile */
const allMessages = async ({ reads }: RealtimeServices, trace: StoredDetail, asked: MessagesToRead) => {
  const texts: string[] = []
  let { revision } = trace
  let bytes = 0
  const chunks = messageChunks(reads, trace, asked)
  for (let chunk = await chunks.next(); !chunk.done; chunk = await chunks.next()) {
    revision = chunk.value.revision
    for (const row of chunk.value.rows) {
      const text = messageText(row)
      bytes += Buffer.byteLength(text)
      texts.push(text)
    }
    if (bytes > PAGE_BYTES)
      throw new HttpError(
        'payload_too_large',
        'The messages are more than 8 MiB: subscribe with `changedSince`, or read them page by page',
      )
  }
  return { texts, revision }
}

/** Runs work during which messages and the right to read them must not change. If they do, it may be tried again. @throws Unavailable */
const whileUnchanged = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw error instanceof BrokenOff || error instanceof Rejected ? new Unavailable(error.message, false, error) : error
  }
}

const messagesValue = ({ id }: StoredDetail, texts: readonly string[], revision: bigint) =>
  jsonText<NonNullable<ValueOf<'traces:getMessages'>>>({
    messages: jsonArray(texts),
    revision: String(revision),
    traceId: `"${id}"`,
  })

/** About how many characters of changed messages one value has at most, unless a single batch has more. */
const PIECE = 2 * 1024 * 1024
/** A batch may change messages that are larger than it. Beyond this size they come as several values. */
const MOST_OF_A_BATCH = 24 * 1024 * 1024

type MessagesQuery = { readonly externalId: string; readonly token: string | undefined; readonly includeParts: boolean }

/** The messages that a client has: those up to a revision of a trace. */
type KnownMessages = {
  readonly since: bigint
  /** The id of the trace, if the client or this connection has sent it. */
  readonly traceId?: string | undefined
  /** When the trace was created, if this connection has sent the messages. */
  readonly createdAt?: bigint | undefined
}

const HAS_NOTHING: KnownMessages = { since: -1n }

const deletedStatement = 'select from trace_tombstones where id = $1'

/** Whether a trace of this id has ever been deleted. */
const wasDeleted = async ({ reads }: Pick<RealtimeServices, 'reads'>, id: string): Promise<boolean> =>
  (await reads.rows('trace-was-deleted', deletedStatement, [id])).length > 0

/**
 * The revision after which all messages have changed for a client; undefined if the client has another trace, whose messages are gone. The
 * revisions of a trace that was created again, or whose past was erased, continue the earlier ones. An erased past leaves all messages; but
 * a trace that was deleted before may have been deleted after the client's revision, of which nothing is left. A client whose revision does not
 * exist has read another log: either this log has lost its end since, or it is a copy of the other one.
 */
const sinceOf = async (services: RealtimeServices, known: KnownMessages, trace: StoredDetail) => {
  const { since, traceId = trace.id, createdAt } = known
  if (known === HAS_NOTHING) return since
  if (since > trace.revision || traceId !== trace.id) return undefined
  if (createdAt !== undefined && createdAt !== trace.created_at) return undefined
  if (since >= trace.incarnation || (since === 0n && createdAt === undefined)) return since
  if (trace.erased === null) return undefined
  return createdAt === undefined && (await wasDeleted(services, trace.id)) ? undefined : HAS_NOTHING.since
}

/**
 * The messages that have changed since those that a client has. A client with another trace, or one that was deleted and created again, gets null
 * first, because all its messages are gone.
 */
const changesSince = (
  services: RealtimeServices,
  asked: MessagesQuery,
  known: KnownMessages,
): QueryOf<'traces:getMessages'> => {
  const { externalId, token, includeParts } = asked
  const goOn = (known: KnownMessages) => changesSince(services, asked, known)
  const ask: QueryOf<'traces:getMessages'>['ask'] = async () => {
    const { trace, rest } = await found(services, { externalId }, token)
    if (!trace && known === HAS_NOTHING) return { value: NOTHING, hasNoNews: true, ...rest }
    if (!trace) return { value: NOTHING, next: goOn(HAS_NOTHING), ...rest }
    const since = await sinceOf(services, known, trace)
    if (since === undefined) return { value: NOTHING, next: goOn(HAS_NOTHING), hasMore: true, ...rest }
    const { rows, revision, hasMore } = await whileUnchanged(() =>
      changedMessages(services.reads, trace, { since, includeParts, size: PIECE, most: MOST_OF_A_BATCH }),
    )
    return {
      value: messagesValue(trace, rows.map(messageText), revision),
      hasNoNews: rows.length === 0 && known !== HAS_NOTHING,
      hasMore,
      next: goOn({ since: revision, traceId: trace.id, createdAt: trace.created_at }),
      ...rest,
    }
  }
  const { since, traceId, createdAt } = known
  return {
    key: keyOf('traces:getMessages since', includeParts, keyOfToken(token), since, traceId, createdAt, externalId),
    ask,
  }
}

/**
 * `{messages, revision, traceId}`: the messages of a trace in list order; null if `traces:get` is null. With `changedSince` only the
 * messages that have changed since that revision, and with each change those since the value before. Many changes come as several values
 * of whole batches. After null all messages come.
 */
export const traceMessages = queryKind('traces:getMessages', (services, args, token) => {
  const { externalId, includeParts = false, changedSince, traceId } = args
  const asked: MessagesQuery = { externalId, token, includeParts }
  const maxBytes = async () => bytesOf((await found(services, { externalId }, token)).trace)
  if (changedSince !== undefined)
    return { ...changesSince(services, asked, { since: BigInt(changedSince), traceId }), maxBytes }
  return {
    maxBytes,
    key: keyOf('traces:getMessages', includeParts, keyOfToken(token), externalId),
    ask: async () => {
      const { trace, userId, rest } = await found(services, { externalId }, token)
      if (!trace) return { value: NOTHING, ...rest }
      const { texts, revision } = await whileUnchanged(() => allMessages(services, trace, { includeParts, userId }))
      return { value: messagesValue(trace, texts, revision), ...rest }
    },
  }
})
