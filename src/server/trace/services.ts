import type { ReadTables } from '../../tables/main.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { MessageList } from '../../contract/messages.ts'
import type { ShownTrace } from '../../contract/traces.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import type { Context } from '../../eventstore/engine/decide.ts'
import type { Transactor } from '../../eventstore/engine/transact.ts'
import type { Write } from '../../eventstore/engine/write.ts'
import type { JsonText } from '../http/json-text.ts'
import type { LongLists } from '../http/long-lists.ts'
import type { ModelRegistry } from '../models/registry.ts'
import type { Quotas } from '../namespace/quotas.ts'
import type { TraceNeed, TraceState } from './state.ts'
import type { TraceEvent } from './events.ts'
import type { Moment } from './moment.ts'

export type PastRequest = {
  readonly params: { readonly externalId: string }
  readonly query: { readonly namespace?: string | undefined }
  readonly caller: FastifyRequest['caller']
}

/** A request for messages of a trace. */
export type MessagesRequest = {
  readonly includeParts: boolean
  readonly limit: number | undefined
  readonly cursor: string | undefined
}

/** Answers about the past of a trace, for members of its namespace. @throws 404 if the trace did not exist then */
export type PastAnswers = {
  trace(request: PastRequest, moment: Moment): Promise<JsonText<ShownTrace>>
  messages(
    request: PastRequest,
    reply: FastifyReply,
    moment: Moment,
    asked: MessagesRequest,
  ): Promise<FastifyReply | JsonText<MessageList>>
}

/** The dependencies of the routes of traces and their messages. */
export type TraceServices = {
  readonly reads: Reads<ReadTables>
  readonly traces: Transactor<TraceState, TraceEvent, TraceNeed>
  readonly write: Write
  /** Has the names of models. */
  readonly models: ModelRegistry
  readonly quotas: Pick<Quotas, 'traces' | 'bytes'>
  /** Sends lists that are too long to be answered at once. */
  readonly longLists: LongLists
  readonly past: PastAnswers
  /** Takes back the copy of a deleted trace that a move which died has left in another namespace. @throws Unavailable */
  readonly removeCopies: (
    trace: { readonly id: string; readonly externalId: string; readonly namespaceId: string },
    context: Context,
  ) => Promise<void>
}
