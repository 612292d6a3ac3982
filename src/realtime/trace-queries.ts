import { z } from 'zod'
import { PUBLIC_TRACES, tracesNamed } from '../effects.ts'
import { Rejected, Unavailable } from '../engine/rejected.ts'
import type { Caller } from '../http/caller.ts'
import { HttpError } from '../http/http-error.ts'
import { Key } from '../http/keys.ts'
import { BrokenOff, type Page, type Pages } from '../http/long-list.ts'
import { PAGE_BYTES } from '../http/page-bytes.ts'
import { areAll, candidateIds } from '../trace/candidates.ts'
import { ALL_MESSAGES, messageValues } from '../trace/message-queries.ts'
import { messagePages } from '../trace/message-pages.ts'
import { namedRow } from '../trace/named.ts'
import { assertMayRead } from '../trace/policy.ts'
import { type StoredDetail, memberOf, resolveTrace, traceDetail } from '../trace/queries.ts'
import { detailText, messageText } from '../trace/views.ts'
import { findCaller, keyOfToken, topicsOfCaller } from './caller.ts'
import type { Answer } from './live-queries.ts'
import { queryKind } from './question.ts'
import type { RealtimeServices } from './services.ts'

const externalId = Key.meta({ description: 'The externalId of the trace' })
const authToken = z.string().optional()

/** The trace as it may be read; undefined where there is none, or none that the caller may read. */
const readable = async (
  { reads }: Pick<RealtimeServices, 'reads'>,
  externalId: string,
  caller: Caller | undefined,
): Promise<StoredDetail | undefined> => {
  const resolved = await resolveTrace(reads, externalId, caller)
  const detail = resolved && (await traceDetail(reads, resolved.id))
  if (!detail) return undefined
  try {
    assertMayRead(detail, memberOf(caller, resolved))
    return detail
  } catch (error) {
    if (error instanceof Rejected) return undefined
    throw error
  }
}

/** The trace that a caller means, and all whose change may give the caller another one, or none. */
const found = async (services: RealtimeServices, externalId: string, token: string | undefined) => {
  const caller = await findCaller(services, token)
  const [ids, trace] = await Promise.all([
    candidateIds(services.reads, externalId),
    readable(services, externalId, caller),
  ])
  const topics = [...topicsOfCaller(caller), tracesNamed(externalId), ...ids, ...(areAll(ids) ? [] : [PUBLIC_TRACES])]
  if (trace) topics.push(trace.id)
  return { trace, topics, expiresAt: caller?.expiresAt }
}

const TraceArgs = z.object({ externalId, authToken })

/** TraceDetail with `revision`; null for a trace that is not there, or that the caller may not read. */
export const trace = queryKind(TraceArgs, (services, { externalId }, token) => ({
  key: `traces:get ${keyOfToken(token)} ${externalId}`,
  ask: async () => {
    const { trace, ...rest } = await found(services, externalId, token)
    if (!trace) return { value: 'null', ...rest }
    const detail = detailText(namedRow(services.models, trace))
    return { value: `${detail.slice(0, -1)},"revision":${trace.revision}}`, ...rest }
  },
}))

const MessagesArgs = z.object({
  externalId,
  authToken,
  includeParts: z.boolean().optional(),
})

/** Every message of a trace, as JSON texts. @throws HttpError payload_too_large, Unavailable when one changes meanwhile */
const allMessages = async ({ reads }: RealtimeServices, trace: StoredDetail, includeParts: boolean) => {
  const { id, incarnation } = trace
  const values = messageValues(id, incarnation, ALL_MESSAGES, undefined)
  const texts: string[] = []
  let bytes = 0
  const pages = messagePages(reads, { incarnation, bytes: Number(trace.bytes), includeParts, values })
  for (let page = await nextOf(pages); page; page = await nextOf(pages)) {
    for (const row of page.rows) {
      const text = messageText(row)
      bytes += Buffer.byteLength(text)
      texts.push(text)
    }
    if (bytes > PAGE_BYTES)
      throw new HttpError('payload_too_large', 'The messages are more than 8 MiB: read them page by page')
  }
  return texts
}

const nextOf = async <Row>(pages: Pages<Row>): Promise<Page<Row> | undefined> => {
  try {
    return (await pages.next()).value ?? undefined
  } catch (error) {
    throw error instanceof BrokenOff ? new Unavailable(error.message, false, error) : error
  }
}

const messagesValue = (texts: readonly string[], revision: bigint) =>
  `{"messages":[${texts.join(',')}],"revision":${revision}}`

/**
 * `{messages, revision}`: the messages of a trace in the order of its list; null where `traces:get` is null.
 */
export const traceMessages = queryKind(MessagesArgs, (services, { externalId, includeParts = false }, token) => ({
  key: `traces:getMessages ${includeParts} ${keyOfToken(token)} ${externalId}`,
  ask: async (): Promise<Answer> => {
    const { trace, ...rest } = await found(services, externalId, token)
    if (!trace) return { value: 'null', ...rest }
    const texts = await allMessages(services, trace, includeParts)
    return { value: messagesValue(texts, trace.revision), ...rest }
  },
}))
