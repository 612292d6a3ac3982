import type { ModelsEvent } from '../../src/models/events.ts'
import type { NamespaceEvent } from '../../src/namespace/events.ts'
import type { SessionEvent } from '../../src/session/events.ts'
import type { TraceEvent } from '../../src/trace/events.ts'
import type { IdentityEvent, UserEvent } from '../../src/user/events.ts'

type Ignored<Event extends { type: string }> = { readonly [Type in Event['type']]: 'ignored' }

/** For read models without handlers for events of users, sessions, and so on. A new event type must be added here, too. */
export const ignoredUserEvents: Ignored<UserEvent | IdentityEvent> = {
  UserCreated: 'ignored',
  UserRenamed: 'ignored',
  IdentityRemoved: 'ignored',
  IdentityCreated: 'ignored',
  IdentityRefreshed: 'ignored',
  IdentityNamed: 'ignored',
}

export const ignoredSessionEvents: Ignored<SessionEvent> = {
  SessionCreated: 'ignored',
  SessionSwitched: 'ignored',
  SessionRevoked: 'ignored',
}

export const ignoredNamespaceEvents: Ignored<NamespaceEvent> = {
  NamespaceCreated: 'ignored',
  NamespaceUpdated: 'ignored',
  AvatarChanged: 'ignored',
  RetentionChanged: 'ignored',
  MemberJoined: 'ignored',
  MemberRoleChanged: 'ignored',
  MemberRemoved: 'ignored',
  InviteCreated: 'ignored',
  InviteRevoked: 'ignored',
}

export const ignoredTraceEvents: Ignored<TraceEvent> = {
  TraceCreated: 'ignored',
  TraceUpdated: 'ignored',
  MessageAdded: 'ignored',
  MessageUpdated: 'ignored',
  MessagesCounted: 'ignored',
  TraceSummarised: 'ignored',
  TraceDeleted: 'ignored',
}

export const ignoredModelsEvents: Ignored<ModelsEvent> = {
  ProviderAdded: 'ignored',
  ProviderUpdated: 'ignored',
  ProviderRemoved: 'ignored',
}

const ignoredPeopleEvents = { ...ignoredUserEvents, ...ignoredSessionEvents, ...ignoredNamespaceEvents }

/** For read models that are about traces only. */
export const ignoredButTraces = { ...ignoredPeopleEvents, ...ignoredModelsEvents }

/** For the model registry. */
export const ignoredButModels = { ...ignoredPeopleEvents, ...ignoredTraceEvents }
