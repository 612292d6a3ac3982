import type { z } from 'zod'
import type { Message } from '../../trace/messages/views.ts'
import type { FeedTrace, TraceDetail } from '../../trace/views.ts'

/** A trace as it stands in the feed. */
export type FeedTraceValue = z.output<typeof FeedTrace>
export type MessageValue = z.output<typeof Message>

/** Whose answer it is; without a token, that of the session that the connection belongs to. */
type AsCaller = { readonly authToken?: string | undefined }
type OfTrace = AsCaller & { readonly externalId: string }

/** What each query takes and gives. Null stands for what may not be read, or not any more. */
export type Queries = {
  'feed:getPublicTraces': { readonly args: { readonly limit?: number | undefined }; readonly value: FeedTraceValue[] }
  'feed:getNamespaceTraces': {
    readonly args: AsCaller & { readonly limit?: number | undefined }
    readonly value: FeedTraceValue[] | null
  }
  'traces:get': {
    readonly args: OfTrace
    readonly value: (z.output<typeof TraceDetail> & { readonly revision: number }) | null
  }
  'traces:getMessages': {
    readonly args: OfTrace & {
      readonly includeParts?: boolean | undefined
      readonly changedSince?: number | undefined
      /** The trace that the revision is of: another one by that name is told anew. */
      readonly traceId?: string | undefined
    }
    readonly value: MessageList | null
  }
}

/** Messages in list order, and the revision of the trace that they show. */
export type MessageList = {
  readonly messages: readonly MessageValue[]
  readonly revision: number
  readonly traceId: string
}

export type QueryName = keyof Queries
export type ArgsOf<Name extends QueryName> = Queries[Name]['args']
export type ValueOf<Name extends QueryName> = Queries[Name]['value']
