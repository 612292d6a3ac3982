import type { RecordedEvent } from '../../log/log.ts'

/** An event as a check needs it: where it lies in the log, and the hash of what it says. */
export type HashedEvent = Pick<RecordedEvent, 'id' | 'stream' | 'revision' | 'position' | 'type'> & {
  readonly hash: Buffer
  /** The position of the last event of its append, with which the append was complete; undefined when its end never comes. */
  readonly completedAt: bigint | undefined
  /** Of an event without the end of its append: whether its beginning is there, as of one that a crash has broken off. */
  readonly hasBeginning?: boolean
  /** Of such an event: the append. */
  readonly append?: string
}

/** Where a check reads the events from. */
export type EventSource = {
  /** The id of the log. */
  logId(): Promise<string>
  /** The position of the last event. */
  head(): Promise<bigint>
  /** All events up to a position, in the order of their leaves; those without the end of their append come late. */
  events(upTo: bigint): AsyncIterable<readonly HashedEvent[]>
  /** The events of a stream. */
  ofStream(stream: string): AsyncIterable<readonly HashedEvent[]>
  close(): Promise<void>
}
