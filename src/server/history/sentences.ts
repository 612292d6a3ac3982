import type { AnyEvent } from '../events.ts'
import { truncateText } from '../../base/texts.ts'
import type { PatchOperation } from '../../base/json/patch-operation.ts'
import type { Place } from '../trace/events.ts'
import type { TraceFields } from '../trace/state.ts'
import type { EventType } from './entry-queries.ts'

/** The values that a sentence is made from: the data of the event, without secrets, and current names of users. */
type SentenceInput = {
  readonly type: EventType
  readonly actor: string | undefined
  readonly data: unknown
  readonly added: number
  readonly updated: number
  readonly nameOf: (userId: string) => string
}

type Data<Type extends AnyEvent['type']> = Extract<AnyEvent, { type: Type }>['data']

const MOST_CHARACTERS = 80

/** A user's text within a sentence: on one line, without control characters, and not too long. */
export const quoted = (text: string): string => {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  return `“${truncateText(line, MOST_CHARACTERS)}”`
}

/** The name of the actor in sentences about events without an actor. */
export const SERVICE_NAME = 'Tracebook'

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

const listed = (parts: readonly string[]) =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`

/** Fields of a trace; `visibility` has a sentence of its own. */
type Field = Exclude<keyof TraceFields, 'visibility'>

const fieldNames: { readonly [Name in Field]-?: string } = {
  agentId: 'agent',
  title: 'title',
  projectPath: 'project path',
  projectName: 'project name',
  model: 'model',
  modelName: 'name of the model',
  gitRemoteUrl: 'git remote',
  gitBranch: 'git branch',
  gitRef: 'git ref',
  parentExternalId: 'parent trace',
  parentCallId: 'call of the parent',
  parentKind: 'relation to the parent',
}

const changeOf = (operation: PatchOperation): string => {
  const field = operation.path.slice(1)
  const value = operation.op === 'remove' ? undefined : String(operation.value)
  if (field === 'visibility') return `made the trace ${value}`
  const name = fieldNames[field as Field] ?? field
  if (value === undefined) return `removed the ${name}`
  return `${operation.op === 'add' ? 'set' : 'changed'} the ${name} to ${quoted(value)}`
}

/** What an event changed; undefined if that was erased. */
const changes = (patch: readonly PatchOperation[] | undefined) => {
  if (!patch) return 'changed the trace'
  return patch.length === 0 ? 'uploaded the trace again without a change' : listed(patch.map(changeOf))
}

const messages = ({ added, updated }: SentenceInput) => {
  if (updated === 0) return `${counted(added, 'message')} added`
  return added === 0
    ? `${counted(updated, 'message')} changed`
    : `${counted(added, 'message')} added, ${updated} changed`
}

const renamed = ({ displayName, description }: Data<'NamespaceUpdated'>) =>
  listed([
    ...(displayName === undefined ? [] : [`renamed the namespace to ${quoted(displayName)}`]),
    ...(description === undefined ? [] : ['changed the description of the namespace']),
  ])

const kept = ({ retentionDays }: Data<'RetentionChanged'>) =>
  retentionDays === null
    ? 'decided that the namespace keeps its traces for ever'
    : `decided that the namespace keeps traces for ${counted(retentionDays, 'day')} after their last change`

const joined = ({ data, actor, nameOf }: SentenceInput): string => {
  const { userId, role, invitedBy, code } = data as Data<'MemberJoined'>
  const who = nameOf(userId)
  const as = role === 'admin' ? 'an admin' : 'a member'
  if (code !== undefined)
    return `${who} joined as ${as} with the invite ${code}${invitedBy === undefined ? '' : ` of ${nameOf(invitedBy)}`}`
  return actor === undefined || actor === userId ? `${who} became ${as}` : `${nameOf(actor)} made ${who} ${as}`
}

const roleChanged = ({ data, actor, nameOf }: SentenceInput): string => {
  const { userId, role } = data as Data<'MemberRoleChanged'>
  const as = role === 'admin' ? 'an admin' : 'a member without the rights of an admin'
  return actor === undefined || actor === userId
    ? `${nameOf(userId)} became ${as}`
    : `${nameOf(actor)} made ${nameOf(userId)} ${as}`
}

type Deleted = {
  readonly externalId: string
  readonly messageCount?: number
  readonly movedTo?: Place
  readonly withdrawn?: true
}

const deleted = (who: string, { externalId, messageCount, movedTo, withdrawn }: Deleted) => {
  if (withdrawn) return `The move of the trace ${quoted(externalId)} to here was taken back`
  const held = messageCount === undefined ? '' : `, which had ${counted(messageCount, 'message')}`
  if (movedTo) return `${who} moved the trace ${quoted(externalId)}${held}${held && ','} to @${movedTo.slug}`
  return `${who} deleted the trace ${quoted(externalId)}${held}`
}

const begunAnew = (who: string, { erased, movedFrom }: { readonly erased: number; readonly movedFrom?: Place }) =>
  movedFrom
    ? `${who} moved the trace here from @${movedFrom.slug}`
    : `${who} erased the past of the trace, ${counted(erased, 'event')}`

const invited = ({ code, role, maxUses = 1 }: Data<'InviteCreated'>) => {
  const uses = maxUses === 0 ? 'any number of' : String(maxUses)
  return `made the invite ${code} for ${uses} ${role}${maxUses === 1 ? '' : 's'}`
}

/** An English sentence in the past tense, on one line. */
export const sentenceOf = (input: SentenceInput): string => {
  const { type, data, actor, nameOf } = input
  const who = actor === undefined ? SERVICE_NAME : nameOf(actor)
  switch (type) {
    case 'TraceCreated': {
      const { title } = (data ?? {}) as Partial<Data<'TraceCreated'>>
      return `${who} created the trace${title === undefined ? '' : ` ${quoted(title)}`}`
    }
    case 'TraceUpdated':
      return `${who} ${changes((data as Partial<Data<'TraceUpdated'>>).patch)}`
    case 'TraceSummarised':
      return `${who} summarised ${counted((data as Data<'TraceSummarised'>).messageCount, 'message')}`
    case 'TraceDeleted':
      return deleted(who, data as Deleted)
    case 'HistoryErased':
      return begunAnew(who, data as { erased: number; movedFrom?: Place })
    case 'MessagesUpserted':
      return `${messages(input)} by ${who}`
    case 'NamespaceCreated':
      return `${who} created the namespace ${quoted((data as Data<'NamespaceCreated'>).displayName)}`
    case 'NamespaceUpdated':
      return `${who} ${renamed(data as Data<'NamespaceUpdated'>) || 'changed nothing of the namespace'}`
    case 'AvatarChanged':
      return `${who} changed the picture of the namespace`
    case 'RetentionChanged':
      return `${who} ${kept(data as Data<'RetentionChanged'>)}`
    case 'MemberJoined':
      return joined(input)
    case 'MemberRoleChanged':
      return roleChanged(input)
    case 'MemberRemoved': {
      const { userId } = data as Data<'MemberRemoved'>
      return userId === actor ? `${who} left the namespace` : `${who} removed ${nameOf(userId)} from the namespace`
    }
    case 'InviteCreated':
      return `${who} ${invited(data as Data<'InviteCreated'>)}`
    case 'InviteRevoked':
      return `${who} revoked the invite ${(data as Data<'InviteRevoked'>).code}`
  }
}

/** The ids of all users in the sentence of an event. */
export const usersIn = ({ actor, data }: Pick<SentenceInput, 'actor' | 'data'>): string[] => {
  const { userId, invitedBy } = (data ?? {}) as { userId?: string; invitedBy?: string }
  return [actor, userId, invitedBy].filter((id) => id !== undefined)
}
