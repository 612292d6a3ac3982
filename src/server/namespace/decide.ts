import type { NamespaceType, Role } from '../../contract/namespaces.ts'
import { textBytes } from '../../eventstore/engine/sized-cache.ts'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import type { Decision, EventContext, StreamKind } from '../../eventstore/engine/stream.ts'
import { type ClaimedBy, NamespaceEvent } from './events.ts'
import type { Invite } from './invite.ts'
import { SLUG_TAKEN } from './slug.ts'

/** The membership of a user in a namespace. */
export type Membership = { readonly role: Role; readonly joinedAt: number; readonly invitedBy: string | undefined }

/**
 * How many invites there were when another admin last removed or demoted a user. Invites with a lower number are older than that, and do not undo
 * it.
 */
type LostRights = { readonly removedAfter: number; readonly demotedAfter: number }

const NOTHING_LOST: LostRights = { removedAfter: 0, demotedAfter: 0 }

/** Members by user id, invites by code, lostRights by user id. `evolve` changes the maps in place, those of a draft. */
export type PresentNamespace = {
  readonly is: 'present'
  readonly slug: string
  readonly displayName: string
  readonly description: string | undefined
  readonly type: NamespaceType
  readonly claimedBy: ClaimedBy
  readonly createdBy: string
  readonly avatarStorageId: string | undefined
  /** After how many days without a change traces are deleted; undefined: never. */
  readonly retentionDays: number | undefined
  readonly members: Map<string, Membership>
  readonly invites: Map<string, Invite>
  readonly lostRights: Map<string, LostRights>
}

export type Namespace = { readonly is: 'absent' } | PresentNamespace

/** The same answer as for a trace that the caller may not know of, so that it does not reveal which namespaces exist. */
export const NO_NAMESPACE = 'Not found'

/** @throws Rejected not_found for a namespace that does not exist */
export const presentNamespace = (state: Namespace): PresentNamespace => {
  if (state.is === 'absent') throw new Rejected('not_found', NO_NAMESPACE)
  return state
}

const changeInvite = ({ invites }: PresentNamespace, code: string, change: (invite: Invite) => Partial<Invite>) => {
  const invite = invites.get(code)
  if (invite) invites.set(code, { ...invite, ...change(invite) })
}

const created = (data: Extract<NamespaceEvent, { type: 'NamespaceCreated' }>['data']): PresentNamespace => {
  const { slug, displayName, description, type, claimedBy, createdBy } = data
  const origin = { slug, displayName, description, type, claimedBy, createdBy }
  const unset = { avatarStorageId: undefined, retentionDays: undefined }
  return { is: 'present', ...origin, ...unset, members: new Map(), invites: new Map(), lostRights: new Map() }
}

/** Records that another user has removed or demoted a member. A member who leaves or steps down is not recorded. */
const noteLostRights = (
  { lostRights, invites }: PresentNamespace,
  userId: string,
  lost: keyof LostRights,
  actor: EventContext['actor'],
): void => {
  if (actor?.userId !== userId)
    lostRights.set(userId, { ...(lostRights.get(userId) ?? NOTHING_LOST), [lost]: invites.size })
}

const evolve = (before: Namespace, event: NamespaceEvent, { at, actor }: EventContext): Namespace => {
  if (event.type === 'NamespaceCreated') return created(event.data)
  const state = presentNamespace(before)
  switch (event.type) {
    case 'NamespaceUpdated': {
      const { displayName = state.displayName, description = state.description } = event.data
      return { ...state, displayName, description }
    }
    case 'AvatarChanged':
      return { ...state, avatarStorageId: event.data.storageId }
    case 'RetentionChanged':
      return { ...state, retentionDays: event.data.retentionDays ?? undefined }
    case 'MemberJoined': {
      const { userId, role, invitedBy, code } = event.data
      state.members.set(userId, { role, joinedAt: at, invitedBy })
      if (code !== undefined) changeInvite(state, code, ({ useCount }) => ({ useCount: useCount + 1 }))
      return state
    }
    case 'MemberRoleChanged': {
      const { userId, role } = event.data
      const member = state.members.get(userId)
      if (member) state.members.set(userId, { ...member, role })
      if (role === 'member') noteLostRights(state, userId, 'demotedAfter', actor)
      return state
    }
    case 'MemberRemoved':
      state.members.delete(event.data.userId)
      noteLostRights(state, event.data.userId, 'removedAfter', actor)
      return state
    case 'InviteCreated': {
      const { code, invitedBy, role, expiresAt, email, maxUses } = event.data
      state.invites.set(code, {
        number: state.invites.size,
        invitedBy,
        role,
        createdAt: at,
        expiresAt,
        email,
        maxUses,
        useCount: 0,
        revokedAt: undefined,
      })
      return state
    }
    case 'InviteRevoked':
      changeInvite(state, event.data.code, () => ({ revokedAt: at }))
      return state
  }
}

const draft = (state: Namespace): Namespace => {
  if (state.is === 'absent') return state
  const { members, invites, lostRights } = state
  return { ...state, members: new Map(members), invites: new Map(invites), lostRights: new Map(lostRights) }
}

const STATE_BYTES = 1_000
const MEMBER_BYTES = 300
const INVITE_BYTES = 400
const LOST_RIGHTS_BYTES = 200

const sizeOf = (state: Namespace): number => {
  if (state.is === 'absent') return STATE_BYTES
  const { slug, displayName, description, members, invites, lostRights } = state
  let bytes =
    STATE_BYTES +
    textBytes([slug, displayName, description]) +
    members.size * MEMBER_BYTES +
    lostRights.size * LOST_RIGHTS_BYTES
  for (const { email } of invites.values()) bytes += INVITE_BYTES + textBytes([email])
  return bytes
}

/**
 * Streams `namespace-<id>`; the id is derived from the slug. Members and invites belong to the stream, so that changes at the
 * same time are decided one after the other.
 */
export const namespaces: StreamKind<Namespace, NamespaceEvent> = {
  category: 'namespace',
  events: NamespaceEvent,
  initial: () => ({ is: 'absent' }),
  evolve,
  draft,
  sizeOf,
}

export type DecideNamespace = Decision<Namespace, NamespaceEvent>

export const NOT_MEMBER = 'You are not a member of this namespace: ask one of its admins for an invite'
export const NOT_ADMIN = 'You are not an admin of this namespace: ask one of its admins to do this'

/** The role of a member. @throws Rejected forbidden for a user who is not a member */
export const assertMember = ({ members }: PresentNamespace, userId: string): Role => {
  const member = members.get(userId)
  if (!member) throw new Rejected('forbidden', NOT_MEMBER)
  return member.role
}

/** @throws Rejected forbidden for a user who is not an admin */
export const assertAdmin = (state: PresentNamespace, userId: string): void => {
  if (assertMember(state, userId) !== 'admin') throw new Rejected('forbidden', NOT_ADMIN)
}

type NamespaceTerms = {
  readonly slug: string
  readonly displayName: string
  readonly description?: string
  readonly type: NamespaceType
  readonly createdBy: string
}

const create = (terms: NamespaceTerms, claimedBy: ClaimedBy): NamespaceEvent[] => {
  const { slug, displayName, description, type, createdBy } = terms
  const described = description === undefined ? {} : { description }
  return [
    { type: 'NamespaceCreated', data: { slug, displayName, ...described, type, claimedBy, createdBy } },
    { type: 'MemberJoined', data: { userId: createdBy, role: 'admin' } },
  ]
}

/** Creates a namespace with its creator as admin. @throws Rejected slug_taken */
export const createNamespace =
  (terms: NamespaceTerms): DecideNamespace =>
  (state) => {
    if (state.is === 'present') throw new Rejected('slug_taken', SLUG_TAKEN)
    return create(terms, 'user')
  }

/** Creates the individual namespace of a new user. May be repeated: does nothing if this user has it already. */
export const claimNamespace =
  (terms: NamespaceTerms): DecideNamespace =>
  (state) => {
    if (state.is === 'absent') return create(terms, 'system')
    if (state.claimedBy === 'system' && state.createdBy === terms.createdBy) return []
    throw new Rejected('slug_taken', SLUG_TAKEN)
  }

type NamespaceChange = {
  readonly displayName?: string
  readonly description?: string
  /** Null: traces are never deleted for their age. */
  readonly retentionDays?: number | null
}

const changedDetails = (state: PresentNamespace, { displayName, description }: NamespaceChange): NamespaceEvent[] => {
  const data = {
    ...(displayName === undefined || displayName === state.displayName ? {} : { displayName }),
    ...(description === undefined || description === state.description ? {} : { description }),
  }
  return Object.keys(data).length === 0 ? [] : [{ type: 'NamespaceUpdated', data }]
}

const changedRetention = (state: PresentNamespace, { retentionDays }: NamespaceChange): NamespaceEvent[] => {
  if (retentionDays === undefined || retentionDays === (state.retentionDays ?? null)) return []
  return [{ type: 'RetentionChanged', data: { retentionDays } }]
}

/** Changes the fields that are given and differ, as an admin. @throws Rejected not_found, forbidden */
export const updateNamespace =
  (actorId: string, change: NamespaceChange): DecideNamespace =>
  (before) => {
    const state = presentNamespace(before)
    assertAdmin(state, actorId)
    return [...changedDetails(state, change), ...changedRetention(state, change)]
  }

/** Changes the avatar, as an admin. Its bytes are stored before. @throws Rejected not_found, forbidden */
export const changeAvatar =
  (actorId: string, storageId: string): DecideNamespace =>
  (before) => {
    const state = presentNamespace(before)
    assertAdmin(state, actorId)
    return state.avatarStorageId === storageId ? [] : [{ type: 'AvatarChanged', data: { storageId } }]
  }
