import type { DecodedEvent } from '../eventstore/engine/projection.ts'
import type { DomainEvent } from '../eventstore/engine/stream.ts'
import type { AnyEvent } from './events.ts'
import { keyHash } from '../base/ids.ts'
import type { PatchOperation } from '../base/json/patch-operation.ts'

/** The topic of the list of all public traces: which traces are in it. */
export const PUBLIC_TRACES = 'public traces'

/** The topic of the list of a namespace's traces: which traces are in it. */
export const tracesIn = (namespaceId: string): string => `traces in ${namespaceId}`

/** The topic of the list of public traces without sub-agents: which of them stand below which. */
export const PUBLIC_ROOTS = 'public roots'

/** The topic of the list of a namespace's traces without sub-agents: which traces are not there any more. */
export const rootsIn = (namespaceId: string): string => `roots in ${namespaceId}`

/** The topic of the traces with this externalId, in all namespaces: which traces they are. */
export const tracesNamed = (externalId: string): string => `traces named ${keyHash(externalId)}`

/**
 * What an event changes for answers that were read before it. The effects of each type of event have to be stated here, so that no new type is
 * forgotten by the caches of answers and callers, and by the values that are being sent to realtime clients.
 */
type EffectOf<Event extends DomainEvent> = {
  /** What has changed for answers: ids of traces, namespaces, users and sessions, and topics of lists. */
  readonly topics: (event: DecodedEvent<Event>) => readonly string[]
  /** The id of the session or user whose callers are read again: their rights, identity or active namespace have changed. */
  readonly callers: 'same' | ((event: DecodedEvent<Event>) => string)
  /** Whether it takes from anybody the right to read what has one of the topics. */
  readonly takesRight: boolean | ((event: DecodedEvent<Event>) => boolean)
}

type Effects = { readonly [Type in AnyEvent['type']]: EffectOf<Extract<AnyEvent, { type: Type }>> }

const ofItself = ({ streamId }: DecodedEvent) => [streamId]

/** An event that changes what answers show of its own stream, and no rights. */
const ownTopicOnly = { topics: ofItself, callers: 'same', takesRight: false } as const

/** The effects of an event that changes the callers of its own stream, which is a session or a user. */
const ownCallers = { topics: ofItself, callers: ({ streamId }: DecodedEvent) => streamId }

type Membership = DomainEvent & { readonly data: { readonly userId: string } }

/** The effects of an event that changes a membership: that of the user in `userId`, in the namespace whose stream has the event. */
const membership = {
  topics: ({ streamId, data: { userId } }: DecodedEvent<Membership>) => [streamId, userId],
  callers: ({ data: { userId } }: DecodedEvent<Membership>) => userId,
}

const visibilityIn = (patch: readonly PatchOperation[]) => patch.find(({ path }) => path === '/visibility')

const hasParent = (patch: readonly PatchOperation[]) => patch.some(({ path }) => path.startsWith('/parent'))

const effects: Effects = {
  TraceCreated: {
    topics: ({ streamId, data: { namespaceId, externalId, visibility } }) => [
      streamId,
      tracesIn(namespaceId),
      tracesNamed(externalId),
      ...(visibility === 'public' ? [PUBLIC_TRACES] : []),
    ],
    callers: 'same',
    takesRight: false,
  },
  TraceUpdated: {
    topics: ({ streamId, data: { patch } }) => [
      streamId,
      ...(visibilityIn(patch) ? [PUBLIC_TRACES] : []),
      ...(hasParent(patch) ? [PUBLIC_ROOTS] : []),
    ],
    callers: 'same',
    takesRight: ({ data: { patch } }) => {
      const change = visibilityIn(patch)
      return change !== undefined && (change.op === 'remove' || change.value !== 'public')
    },
  },
  TraceDeleted: {
    topics: ({ streamId, data: { externalId, namespaceId } }) => [
      streamId,
      tracesNamed(externalId),
      rootsIn(namespaceId),
      PUBLIC_ROOTS,
    ],
    callers: 'same',
    takesRight: true,
  },
  HistoryErased: {
    // Only a trace that was moved here changes in lists: it is shown where it was created, and as what it was.
    topics: ({ streamId, data: { namespaceId, externalId, visibility, movedFrom } }) => [
      streamId,
      ...(movedFrom ? [tracesIn(namespaceId), tracesNamed(externalId)] : []),
      ...(movedFrom && visibility === 'public' ? [PUBLIC_TRACES] : []),
    ],
    callers: 'same',
    takesRight: true,
  },
  MessageRestated: { ...ownTopicOnly, topics: () => [] }, // no answer shows it yet
  TraceArriving: { ...ownTopicOnly, topics: () => [] },
  MessageAdded: ownTopicOnly,
  MessageUpdated: ownTopicOnly,
  MessagesCounted: ownTopicOnly,
  TraceSummarised: ownTopicOnly,

  MemberJoined: { ...membership, takesRight: false },
  MemberRoleChanged: { ...membership, takesRight: false }, // members of either role may read
  MemberRemoved: { ...membership, takesRight: true },
  NamespaceCreated: ownTopicOnly,
  NamespaceUpdated: ownTopicOnly,
  AvatarChanged: ownTopicOnly,
  RetentionChanged: ownTopicOnly,
  InviteCreated: ownTopicOnly,
  InviteRevoked: ownTopicOnly,

  CommitRecorded: { ...ownTopicOnly, topics: () => [] }, // no answer about it is kept
  CommitRemoved: { ...ownTopicOnly, topics: () => [] },

  SessionCreated: ownTopicOnly,
  SessionSwitched: { ...ownCallers, takesRight: false },
  SessionRevoked: { ...ownCallers, takesRight: true },

  UserCreated: ownTopicOnly,
  UserRenamed: ownTopicOnly,
  IdentityCreated: ownTopicOnly,
  IdentityRefreshed: ownTopicOnly,
  IdentityNamed: ownTopicOnly,
  IdentityRemoved: { ...ownCallers, takesRight: true },

  ProviderAdded: ownTopicOnly,
  ProviderUpdated: ownTopicOnly,
  ProviderRemoved: ownTopicOnly,
}

/** If several events of these types follow each other in one stream, only the last one matters: they change only answers about their stream. */
export const repeated: ReadonlySet<string> = new Set(['MessageAdded', 'MessageUpdated'] satisfies AnyEvent['type'][])

/** The effect of one event. */
type Effect = {
  readonly topics: readonly string[]
  /** The id of a session or user whose callers are read again; undefined if no caller changes. */
  readonly callers: string | undefined
  readonly takesRight: boolean
}

/**
 * The effect of an event.
 * @throws Error for an event type that this version does not know. It may make any answer stale: the caller has to drop all cached answers
 */
export const effectOf = (event: DecodedEvent): Effect => {
  const effect = effects[event.type as AnyEvent['type']] as EffectOf<DomainEvent> | undefined
  if (!effect) throw new Error(`event type ${event.type}: this version does not know its effect on answers`)
  const { topics, callers, takesRight } = effect
  return {
    topics: topics(event),
    callers: callers === 'same' ? undefined : callers(event),
    takesRight: typeof takesRight === 'boolean' ? takesRight : takesRight(event),
  }
}
