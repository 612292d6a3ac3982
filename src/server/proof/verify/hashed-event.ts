import type { RecordedEvent } from '../../../eventstore/log/log.ts'

/** An event as the verification needs it: its place in the log, and the hash of its entry. */
export type HashedEvent = Pick<RecordedEvent, 'id' | 'stream' | 'revision' | 'position' | 'type'> & {
  readonly hash: Buffer
  /** The position of the last event of its append, which completed the append; undefined if its end is missing. */
  readonly completedAt: bigint | undefined
  /** Only if the end of its append is missing: whether the log has the beginning of the append, as after a crash. */
  readonly hasBeginning?: boolean
  /** Only if the end of its append is missing: the id of the append. */
  readonly append?: string
  /** The revision before which the stream may lack events, if this event says that its past was erased. */
  readonly since?: bigint | undefined
}

/** The `since` of an event, from its data. */
export const sinceIn = (type: string, data: () => string): { readonly since?: bigint } => {
  if (type !== 'HistoryErased') return {}
  try {
    const { since } = JSON.parse(data()) as { since?: unknown }
    return Number.isSafeInteger(since) ? { since: BigInt(since as number) } : {}
  } catch {
    return {} // the data was changed, which the hash of the event shows
  }
}

/** The source of the events to verify. */
export type EventSource = {
  /** The id of the log. */
  logId(): Promise<string>
  /** The position of the last event. */
  head(): Promise<bigint>
  /** All events up to a position, in the order of their leaves. Events of an append without its end come late. */
  events(upTo: bigint): AsyncIterable<readonly HashedEvent[]>
  /** The events of a stream. */
  ofStream(stream: string): AsyncIterable<readonly HashedEvent[]>
  close(): Promise<void>
}
