import { requireAgreement } from '../cli/ask.ts'
import { commandName } from '../cli/command-name.ts'
import { escapeControls } from '../base/escape.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines } from '../cli/output.ts'
import { shortTime } from '../cli/time-text.ts'
import { printTable } from '../cli/table.ts'
import type { Member, Role } from '../client/api/namespaces.ts'
import { type Access, type NamespaceAccess, explainNamespaceRefusal, openNamespace } from './support/access.ts'
import type { ClientOptions } from './support/access.ts'

type RemoveOptions = ClientOptions & { readonly yes?: boolean }

const MIN_PREFIX = 4

const nameOf = ({ user }: Member): string => user.displayName ?? '-'

/** A member on one line; line breaks in the name are escaped. */
const described = ({ user }: Member): string =>
  user.displayName === undefined ? `the user ${user.id}` : `${escapeControls(user.displayName)} (user ${user.id})`

/** The member with an id, a prefix of an id, or a name. @throws UsageError for none, and for several */
const memberNamed = (members: readonly Member[], name: string, slug: string): Member => {
  const byId = members.filter(({ user }) => user.id === name)
  const byPrefix = name.length < MIN_PREFIX ? [] : members.filter(({ user }) => user.id.startsWith(name))
  const byName = members.filter(({ user }) => user.displayName === name)
  const found = byId.length > 0 ? byId : [...new Set([...byPrefix, ...byName])]
  if (found.length === 1) return found[0]!
  if (found.length > 1)
    throw new UsageError(`"${name}" matches ${found.length} members; use an id.\n${found.map(described).join('\n')}`)
  throw new UsageError(
    `The namespace "${slug}" has no member "${name}". To list its members, run: ${commandName} members --namespace ${slug}`,
  )
}

export const list = async (access: Access, options: ClientOptions): Promise<number> => {
  const opened = await openNamespace(access)
  const { slug, client } = opened
  const members = await client.members(slug).catch(explainNamespaceRefusal(opened, 'see who its members are'))
  if (options.json) for (const member of members) await printDocument({ type: 'member', namespace: slug, member })
  else {
    const columns = [
      { head: 'name', cell: nameOf, min: 8 },
      { head: 'role', cell: ({ role }: Member) => role },
      { head: 'joined', cell: ({ joinedAt }: Member) => shortTime(joinedAt), drop: 1 },
      { head: 'user', cell: ({ user }: Member) => user.id },
    ]
    await printTable(columns, members)
  }
  return exitCodes.ok
}

const find = async (opened: NamespaceAccess, name: string): Promise<Member> => {
  const members = await opened.client.members(opened.slug).catch(explainNamespaceRefusal(opened, 'change its members'))
  return memberNamed(members, name, opened.slug)
}

export const changeRole = async (access: Access, options: ClientOptions, name: string, role: Role): Promise<number> => {
  const opened = await openNamespace(access)
  const { slug, client } = opened
  const { user } = await find(opened, name)
  const member = await client.changeRole(slug, user.id, role).catch(explainNamespaceRefusal(opened, 'change roles'))
  if (options.json) await printDocument({ type: 'member', namespace: slug, member })
  else await printLines([`${described(member)} is now ${role === 'admin' ? 'an admin' : 'a member'} of "${slug}".`])
  return exitCodes.ok
}

export const remove = async (access: Access, options: RemoveOptions, name: string): Promise<number> => {
  const opened = await openNamespace(access)
  const { slug, client } = opened
  const member = await find(opened, name)
  const { id } = member.user
  await requireAgreement(
    `${described(member)} will be removed from the namespace "${slug}", and can then read only its public traces.`,
    options.yes ?? false,
  )
  await client.removeMember(slug, id).catch(explainNamespaceRefusal(opened, 'remove others'))
  if (options.json) await printDocument({ type: 'removed', namespace: slug, userId: id })
  else await printLines([`Removed ${described(member)} from "${slug}".`])
  return exitCodes.ok
}
