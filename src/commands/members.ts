import { Argument, Command } from 'commander'
import { requireAgreement } from '../cli/ask.ts'
import { commandName } from '../cli/command-name.ts'
import { escapeControls } from '../cli/escape.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines } from '../cli/output.ts'
import { shortTime } from '../cli/short-time.ts'
import { tableLines } from '../cli/table.ts'
import type { Member, Role } from '../sync/api/namespaces.ts'
import type { Access } from './support/access.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'
import { type NamespaceAccess, explained, openNamespace, roles } from './support/namespace-access.ts'

const userHelp = 'A member is named by user id, by the beginning of one (four characters or more), or by name.'
const document = ['{"type":"member","namespace","member"}', 'a member, as the API shows it'] as const

const listHelp: Help = {
  about: `
Lists the members of your namespace, or with --namespace of another one. Its admins change roles and
remove members; "tracebook invite" brings new ones in.`,
  examples: [
    ['tracebook members', 'of the namespace of your login'],
    ['tracebook members --namespace team --json', 'for scripts'],
    ['tracebook members role Ada admin --namespace team', 'make Ada an admin'],
    ['tracebook members remove Ada --namespace team'],
  ],
  documents: [document],
}

const roleHelp: Help = {
  about: `
Gives a member another role. An admin may change members, invites, the namespace and all its traces; a
member only what is their own. At least one admin is left.

${userHelp}`,
  examples: [
    ['tracebook members role Ada admin --namespace team'],
    ['tracebook members role 7c9e6679 member --namespace team --json', 'for scripts'],
  ],
  documents: [document],
}

const removeHelp: Help = {
  about: `
Takes a member out of a namespace, for its admins; or yourself, which is how you leave. The rights of the
member end at once, and the open invites that the member made are revoked; traces stay. You are asked
first; without a terminal nobody can be asked, and --yes is needed.

${userHelp}`,
  examples: [
    ['tracebook members remove Ada --namespace team'],
    ['tracebook members remove 7c9e6679 --namespace team --yes --json', 'in a script'],
  ],
  documents: [['{"type":"removed","namespace","userId"}', 'the one who was removed']],
}

const MIN_PREFIX = 4

const nameOf = ({ user }: Member): string => user.displayName ?? '-'
/** On one line, also for questions and errors, which may have several. */
const described = ({ user }: Member): string =>
  user.displayName === undefined ? `the user ${user.id}` : `${escapeControls(user.displayName)} (user ${user.id})`

/** The member that a user names. @throws UsageError where it is none, or several */
const memberNamed = (members: readonly Member[], name: string, slug: string): Member => {
  const byId = members.filter(({ user }) => user.id === name)
  const byPrefix = name.length < MIN_PREFIX ? [] : members.filter(({ user }) => user.id.startsWith(name))
  const byName = members.filter(({ user }) => user.displayName === name)
  const found = byId.length > 0 ? byId : [...new Set([...byPrefix, ...byName])]
  if (found.length === 1) return found[0]!
  if (found.length > 1)
    throw new UsageError(
      `"${name}" are ${found.length} members: name one by its id\n${found.map(described).join('\n')}`,
    )
  throw new UsageError(
    `"${name}" is no member of the namespace "${slug}". Its members: ${commandName} members --namespace ${slug}`,
  )
}

const list = async (access: Access, options: ClientOptions): Promise<number> => {
  const opened = await openNamespace(access)
  const { slug, client } = opened
  const members = await client.members(slug).catch(explained(opened, 'see who its members are'))
  if (options.json) for (const member of members) await printDocument({ type: 'member', namespace: slug, member })
  else {
    const now = Date.now()
    const columns = [
      { head: 'name', cell: nameOf, min: 8 },
      { head: 'role', cell: ({ role }: Member) => role },
      { head: 'joined', cell: ({ joinedAt }: Member) => shortTime(joinedAt, now), drop: 1 },
      { head: 'user', cell: ({ user }: Member) => user.id },
    ]
    await printLines(tableLines(columns, members, process.stdout.columns))
  }
  return exitCodes.ok
}

const find = async (opened: NamespaceAccess, name: string): Promise<Member> => {
  const members = await opened.client.members(opened.slug).catch(explained(opened, 'change its members'))
  return memberNamed(members, name, opened.slug)
}

const changeRole = async (access: Access, options: ClientOptions, name: string, role: Role): Promise<number> => {
  const opened = await openNamespace(access)
  const { slug, client } = opened
  const { user } = await find(opened, name)
  const member = await client.changeRole(slug, user.id, role).catch(explained(opened, 'change roles'))
  if (options.json) await printDocument({ type: 'member', namespace: slug, member })
  else await printLines([`${described(member)} is ${role === 'admin' ? 'an admin' : 'a member'} of "${slug}".`])
  return exitCodes.ok
}

type RemoveOptions = ClientOptions & { readonly yes?: boolean }

const remove = async (access: Access, options: RemoveOptions, name: string): Promise<number> => {
  const opened = await openNamespace(access)
  const { slug, client } = opened
  const member = await find(opened, name)
  const { id } = member.user
  await requireAgreement(
    `${described(member)} will be removed from the namespace "${slug}", and reads nothing of it any more but what is public.`,
    options.yes ?? false,
  )
  await client.removeMember(slug, id).catch(explained(opened, 'remove others'))
  if (options.json) await printDocument({ type: 'removed', namespace: slug, userId: id })
  else await printLines([`${described(member)} is no member of "${slug}" any more.`])
  return exitCodes.ok
}

const NAMESPACE = 'the namespace (default: the one of your login)'
const userArgument = (): Argument => new Argument('<user>', 'the member: user id, the beginning of one, or name')

const roleCommand = (): Command =>
  clientCommand<ClientOptions, [string, Role]>(
    new Command('role')
      .description('Give a member another role')
      .addArgument(userArgument())
      .addArgument(new Argument('<role>', 'the role from now on').choices(roles)),
    { help: roleHelp, namespace: NAMESPACE, run: changeRole },
  )

const removeCommand = (): Command =>
  clientCommand<RemoveOptions, [string]>(
    new Command('remove')
      .description('Take a member out, or leave')
      .addArgument(userArgument())
      .option('-y, --yes', 'agree without being asked'),
    { help: removeHelp, namespace: NAMESPACE, run: remove },
  )

/** `tracebook members`: lists and changes the members of a namespace. Output and exit codes in its help. */
export const membersCommand = (): Command =>
  clientCommand<ClientOptions>(new Command('members'), {
    help: listHelp,
    namespace: NAMESPACE,
    run: list,
  })
    .addCommand(roleCommand())
    .addCommand(removeCommand())
