import type { DecodedEvent } from '../engine/projection.ts'
import type { AnyEvent } from '../events.ts'
import type { Caller } from '../http/caller.ts'

/** Who reads a long list, and what it is a list of. */
export type Reader = {
  readonly caller: Pick<Caller, 'userId' | 'identityId' | 'sessionId' | 'expiresAt'> | undefined
  /** The namespace of what is read. */
  readonly namespaceId: string
  /** The trace whose messages are read; undefined for a list of the namespace's traces. */
  readonly traceId: string | undefined
  /** Whether the caller is a member of the namespace: then the visibility of a trace does not matter. */
  readonly isMember: boolean
}

/** A reader, and the ids of the traces that are shown by what is about to be sent. */
export type Sending = { readonly reader: Reader; readonly shows: (traceId: string) => boolean }

/** Whether something that happened forbids to go on with sending. */
export type Ends = (sending: Sending) => boolean

/** For each event type: whose right to read it takes away. A new event type has to be named here. */
type Losses = {
  readonly [Type in AnyEvent['type']]:
    'keeps' | ((event: DecodedEvent<Extract<AnyEvent, { type: Type }>>) => Ends | undefined)
}

const losses: Losses = {
  TraceDeleted:
    ({ streamId: id }) =>
    ({ reader, shows }) =>
      reader.traceId === id || shows(id),
  TraceUpdated: ({ streamId: id, data: { patch } }) => {
    const change = patch.find(({ path }) => path === '/visibility')
    if (!change || (change.op !== 'remove' && change.value === 'public')) return undefined
    return ({ reader }) => reader.traceId === id && !reader.isMember
  },
  MemberRemoved:
    ({ streamId: namespaceId, data: { userId } }) =>
    ({ reader }) =>
      reader.namespaceId === namespaceId && reader.caller?.userId === userId,
  SessionRevoked:
    ({ streamId: id }) =>
    ({ reader }) =>
      reader.caller?.sessionId === id,
  IdentityRemoved:
    ({ data: { identityId } }) =>
    ({ reader }) =>
      reader.caller?.identityId === identityId,
  TraceCreated: 'keeps',
  MessageAdded: 'keeps',
  MessageUpdated: 'keeps',
  MessagesCounted: 'keeps',
  TraceSummarised: 'keeps',
  SessionCreated: 'keeps',
  SessionSwitched: 'keeps', // what is read was found before
  NamespaceCreated: 'keeps',
  NamespaceUpdated: 'keeps',
  AvatarChanged: 'keeps',
  MemberJoined: 'keeps',
  MemberRoleChanged: 'keeps', // members of either role may read
  InviteCreated: 'keeps',
  InviteRevoked: 'keeps',
  UserCreated: 'keeps',
  UserRenamed: 'keeps',
  IdentityCreated: 'keeps',
  IdentityRefreshed: 'keeps',
  ProviderAdded: 'keeps',
  ProviderUpdated: 'keeps',
  ProviderRemoved: 'keeps',
}

/** Which readers an event takes the right to read from; undefined when it takes it from nobody. */
export const lossOf = (event: DecodedEvent): Ends | undefined => {
  const loss = losses[event.type as AnyEvent['type']] as 'keeps' | ((event: DecodedEvent) => Ends | undefined)
  return loss === 'keeps' ? undefined : loss(event)
}
