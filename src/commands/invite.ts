import { Command, InvalidArgumentError, Option } from 'commander'
import { commandName } from '../cli/command-name.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { localTime } from '../cli/local-time.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { shortTime } from '../cli/short-time.ts'
import { tableLines } from '../cli/table.ts'
import { hasStatus } from '../sync/api/errors.ts'
import type { Invite, Role } from '../sync/api/namespaces.ts'
import { type Access, openAccess } from './support/access.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'
import { explained, openNamespace, roles } from './support/namespace-access.ts'

const document = ['{"type":"invite","namespace","invite"}', 'an invite, as the API shows it to admins'] as const

const makeHelp: Help = {
  about: `
Makes an invite to your namespace, or with --namespace to another one, for its admins. Send the command
that is printed to whom you invite: the code in it lets them in, for 24 hours and once, or as often as
--uses says. With --email only a user with that address, verified by the code host, may accept.`,
  examples: [
    ['tracebook invite --namespace team'],
    ['tracebook invite --namespace team --role admin --email ada@example.org'],
    ['tracebook invite --namespace team --uses 0', 'as many as have the code'],
    ['tracebook invite --namespace team --json', 'for scripts'],
    ['tracebook invite accept a1B2c3D4e', 'join by an invite'],
  ],
  documents: [document],
}

const listHelp: Help = {
  about:
    'Lists the invites of a namespace that can still be accepted, for its admins; with --all also those that are over.',
  examples: [['tracebook invite ls --namespace team'], ['tracebook invite ls --namespace team --all --json']],
  documents: [document],
}

const revokeHelp: Help = {
  about: 'Takes an invite back, for the admins of its namespace: its code stops working. Who has joined by it stays.',
  examples: [
    ['tracebook invite revoke a1B2c3D4e --namespace team'],
    ['tracebook invite revoke a1B2c3D4e --namespace team --json', 'for scripts'],
  ],
  documents: [['{"type":"revoked","namespace","code"}', 'the invite that was taken back']],
}

const acceptHelp: Help = {
  about: `
Makes you a member of the namespace that an invite leads to. The invite is named by its code, or by a link
that ends with the code. Who has no user at the server yet logs in with it: tracebook login --invite CODE`,
  examples: [
    ['tracebook invite accept a1B2c3D4e'],
    ['tracebook invite accept https://traces.example.org/invite/a1B2c3D4e'],
    ['tracebook invite accept a1B2c3D4e --json', 'for scripts'],
  ],
  documents: [['{"type":"joined","namespace"}', 'the namespace, with your role in it']],
}

type MakeOptions = ClientOptions & { readonly role?: Role; readonly email?: string; readonly uses?: number }

const usesText = ({ maxUses = 1, useCount }: Invite): string =>
  maxUses === 0 ? `${useCount} of any number` : `${useCount} of ${maxUses}`

const make = async (access: Access, options: MakeOptions): Promise<number> => {
  const opened = await openNamespace(access)
  const { server, slug, client } = opened
  const { role, email, uses } = options
  const terms = {
    ...(role === undefined ? {} : { role }),
    ...(email === undefined ? {} : { email }),
    ...(uses === undefined ? {} : { maxUses: uses }),
  }
  const invite = await client.createInvite(slug, terms).catch((error: unknown) => {
    if (hasStatus(error, 400)) throw new UsageError(error.message)
    return explained(opened, 'invite others')(error)
  })
  if (options.json) await printDocument({ type: 'invite', namespace: slug, invite })
  else {
    say(`An invite to "${slug}" as ${invite.role}, until ${localTime(invite.expiresAt)}. Send this to whom you invite:`)
    await printLines([`${commandName} invite accept ${invite.code} --server ${server}`])
    say(`Who is new there runs instead: ${commandName} login --invite ${invite.code} --server ${server}`)
  }
  return exitCodes.ok
}

const list = async (access: Access, options: ClientOptions & { readonly all?: boolean }): Promise<number> => {
  const opened = await openNamespace(access)
  const { slug, client } = opened
  const all = await client.invites(slug).catch(explained(opened, 'see the invites'))
  const invites = all.filter(({ state }) => options.all || state === 'pending')
  if (options.json) for (const invite of invites) await printDocument({ type: 'invite', namespace: slug, invite })
  else if (invites.length === 0)
    say(`No invite to "${slug}" is open. Make one: ${commandName} invite --namespace ${slug}`)
  else {
    const now = Date.now()
    const columns = [
      { head: 'code', cell: ({ code }: Invite) => code },
      { head: 'role', cell: ({ role }: Invite) => role },
      { head: 'state', cell: ({ state }: Invite) => state },
      { head: 'used', cell: usesText },
      { head: 'until', cell: ({ expiresAt }: Invite) => shortTime(expiresAt, now) },
      { head: 'email', cell: ({ email = '-' }: Invite) => email, min: 8, drop: 1 },
    ]
    await printLines(tableLines(columns, invites, process.stdout.columns))
  }
  return exitCodes.ok
}

const revoke = async (access: Access, options: ClientOptions, name: string): Promise<number> => {
  const opened = await openNamespace(access)
  const { slug, client } = opened
  const { code } = parseInvite(name)
  await client.revokeInvite(slug, code).catch((error: unknown) => {
    if (!hasStatus(error, 404)) return explained(opened, 'revoke invites')(error)
    throw new Error(`"${slug}" has no invite ${code}. Its invites: ${commandName} invite ls --namespace ${slug}`)
  })
  if (options.json) await printDocument({ type: 'revoked', namespace: slug, code })
  else await printLines([`The invite ${code} to "${slug}" is revoked.`])
  return exitCodes.ok
}

/** The code in what a user gives, and the server of a link. */
const parseInvite = (text: string): { readonly code: string; readonly server?: string } => {
  const url = /^https?:/.test(text) ? URL.parse(text) : undefined
  const match = url && /^(?<base>.*?)\/(?:v1\/)?invites?\/(?<code>[^/]+)\/?$/.exec(url.pathname)
  if (url && !match) throw new UsageError(`${text} is no link to an invite: it ends with /invite/ and the code`)
  return match
    ? { code: match.groups!['code']!, server: `${url!.origin}${match.groups!['base']}` }
    : { code: text.trim() }
}

const refusedInvite = (code: string) => (error: unknown) => {
  if (hasStatus(error, 404)) throw new Error(`There is no invite ${code}. Ask for it again.`, { cause: error })
  if (hasStatus(error, 410)) throw new Error(`${error.message}. Ask an admin for another invite.`, { cause: error })
  if (hasStatus(error, 403))
    throw new Error(`${error.message}. Sign in with that address: ${commandName} login --codehost`, { cause: error })
  throw error
}

const accept = async (given: Access, options: ClientOptions, name: string): Promise<number> => {
  const { code, server } = parseInvite(name)
  const access = server === undefined ? given : openAccess({ server })
  if (options.server !== undefined && access.server !== given.server)
    throw new UsageError(`The link leads to ${access.server}: leave out --server`)
  if ((await access.token()) === undefined)
    throw new UsageError(
      `Not logged in to ${access.server}. Sign up with the invite: ${commandName} login --invite ${code} --server ${access.server}`,
    )
  const { client } = await openNamespace(access)
  const namespace = await client.acceptInvite(code).catch(refusedInvite(code))
  if (options.json) await printDocument({ type: 'joined', namespace })
  else {
    const { displayName, slug, role } = namespace
    await printLines([`You are ${role === 'admin' ? 'an admin' : 'a member'} of ${displayName} ("${slug}").`])
    say(`Upload sessions to it: ${commandName} sync --namespace ${slug}`)
  }
  return exitCodes.ok
}

const usesOf = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number; 0: any number.')
  return Number(text)
}

const listCommand = (): Command =>
  clientCommand<ClientOptions & { readonly all?: boolean }>(
    new Command('ls').description('List the invites of a namespace').option('--all', 'also those that are over'),
    { help: listHelp, run: list },
  )

const revokeCommand = (): Command =>
  clientCommand<ClientOptions, [string]>(
    new Command('revoke').description('Take an invite back').argument('<code>', 'the invite: its code, or its link'),
    { help: revokeHelp, run: revoke },
  )

const acceptCommand = (): Command =>
  clientCommand<ClientOptions, [string]>(
    new Command('accept')
      .description('Join a namespace by an invite')
      .argument('<code>', 'the invite: its code, or its link'),
    { help: acceptHelp, namespace: false, run: accept },
  )

/** `tracebook invite`: makes, lists, revokes and accepts invites. Output and exit codes in its help. */
export const inviteCommand = (): Command =>
  clientCommand<MakeOptions>(
    new Command('invite')
      .addOption(new Option('--role <role>', 'the role of who accepts (default: member)').choices(roles))
      .option('--email <address>', 'only a user with this address may accept')
      .option('--uses <count>', 'how many may accept; 0: any number (default: 1)', usesOf),
    { help: makeHelp, run: make },
  )
    .addCommand(listCommand())
    .addCommand(revokeCommand())
    .addCommand(acceptCommand())
