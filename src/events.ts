import type { EventFormat } from './engine/codec.ts'
import { quarantineFormats } from './engine/skip-events.ts'
import { type ModelsEvent, modelsFormats } from './models/events.ts'
import { type NamespaceEvent, namespaceFormats } from './namespace/events.ts'
import { type SessionEvent, sessionFormats } from './session/events.ts'
import type { TraceEvent } from './trace/events.ts'
import { traceFormats } from './trace/formats.ts'
import { type IdentityEvent, type UserEvent, identityFormats, userFormats } from './user/events.ts'

/** All events of the service. Each projection handles each of these types or names it as ignored. */
export type AnyEvent = UserEvent | IdentityEvent | SessionEvent | NamespaceEvent | TraceEvent | ModelsEvent

/** The formats of all event types, for the codec. */
export const formats: Readonly<Record<string, EventFormat>> = {
  ...userFormats,
  ...identityFormats,
  ...sessionFormats,
  ...namespaceFormats,
  ...traceFormats,
  ...modelsFormats,
  ...quarantineFormats,
}
