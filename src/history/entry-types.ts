import type { NamespaceEvent } from '../namespace/events.ts'
import type { TraceEvent } from '../trace/events.ts'

type OfMessages = 'MessageAdded' | 'MessageUpdated' | 'MessagesCounted' | 'MessageRestated'

/** The type of an entry: that of an event, or the one for all messages of a request. Each is an `EntryType` of the contract. */
export type EventType = Exclude<TraceEvent['type'], OfMessages> | NamespaceEvent['type'] | 'MessagesUpserted'
