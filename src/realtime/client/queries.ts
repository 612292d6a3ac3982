import type { ValueOf } from '../../contract/realtime.ts'

/** A trace in the feed. */
export type FeedTraceValue = ValueOf<'feed:getPublicTraces'>[number]

/** Messages in list order, and the revision of the trace for them. */
export type MessageList = NonNullable<ValueOf<'traces:getMessages'>>
export type MessageValue = MessageList['messages'][number]
