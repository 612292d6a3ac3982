import type { NamespaceEvent } from '../namespace/events.ts'
import type { TraceEvent } from '../trace/events.ts'

type OfMessages = 'MessageAdded' | 'MessageUpdated' | 'MessagesCounted'

/** What an entry is about: the type of an event, or all messages of one request. Each of them is an `EntryType` of the contract. */
export type EventType = Exclude<TraceEvent['type'], OfMessages> | NamespaceEvent['type'] | 'MessagesUpserted'
