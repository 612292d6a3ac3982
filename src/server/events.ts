import type { EventFormat } from '../eventstore/engine/codec.ts'
import { quarantineFormats } from '../eventstore/engine/skip-events.ts'
import { type CommitEvent, commitFormats } from './commit/events.ts'
import { type ModelsEvent, modelsFormats } from './models/events.ts'
import { type NamespaceEvent, namespaceFormats } from './namespace/events.ts'
import { type SessionEvent, sessionFormats } from './session/events.ts'
import type { TraceEvent } from './trace/events.ts'
import { traceFormats } from './trace/formats.ts'
import { type IdentityEvent, type UserEvent, identityFormats, userFormats } from './user/events.ts'

/** All events of the service. */
export type AnyEvent =
  UserEvent | IdentityEvent | SessionEvent | NamespaceEvent | TraceEvent | CommitEvent | ModelsEvent

/**
 * Types of events that must never be skipped, each with the reason, for the operator. Other events that take a right away may be
 * skipped, because the right can be taken away again: a member can be removed once more, a session revoked. But the content of
 * a deleted trace is being erased, and whoever signs in with a removed identity has all the rights of its user.
 */
export const UNSKIPPABLE: ReadonlyMap<string, string> = new Map<AnyEvent['type'], string>([
  ['TraceDeleted', 'a deletion must not be skipped: the trace would show again'],
  ['HistoryErased', 'an erasure must not be skipped: the past would show again'],
  ['IdentityRemoved', 'a removal must not be skipped: the removed identity could sign in again'],
])

/** The formats of all event types, for the codec. */
export const formats: Readonly<Record<string, EventFormat>> = {
  ...userFormats,
  ...identityFormats,
  ...sessionFormats,
  ...namespaceFormats,
  ...traceFormats,
  ...commitFormats,
  ...modelsFormats,
  ...quarantineFormats,
}
