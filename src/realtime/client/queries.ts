import type { ValueOf } from '../../contract/realtime.ts'

/** A trace as it stands in the feed. */
export type FeedTraceValue = ValueOf<'feed:getPublicTraces'>[number]

/** Messages in list order, and the revision of the trace that they show. */
export type MessageList = NonNullable<ValueOf<'traces:getMessages'>>
export type MessageValue = MessageList['messages'][number]
