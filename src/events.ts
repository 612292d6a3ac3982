import type { EventFormat } from './engine/codec.ts'
import { quarantineFormats } from './engine/skip-events.ts'
import { type ModelsEvent, modelsFormats } from './models/events.ts'
import { type NamespaceEvent, namespaceFormats } from './namespace/events.ts'
import { type SessionEvent, sessionFormats } from './session/events.ts'
import type { TraceEvent } from './trace/events.ts'
import { traceFormats } from './trace/formats.ts'
import { type IdentityEvent, type UserEvent, identityFormats, userFormats } from './user/events.ts'

/** Every event of the service: what projections handle or name as ignored. */
export type AnyEvent = UserEvent | IdentityEvent | SessionEvent | NamespaceEvent | TraceEvent | ModelsEvent

/** How each event type is written and read, for the one codec. */
export const formats: Readonly<Record<string, EventFormat>> = {
  ...userFormats,
  ...identityFormats,
  ...sessionFormats,
  ...namespaceFormats,
  ...traceFormats,
  ...modelsFormats,
  ...quarantineFormats,
}
