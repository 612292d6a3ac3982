import { clientLine } from '../base/client-line.ts'
import { commandName } from '../cli/command-name.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { type Secret, readSecret } from '../cli/secret.ts'
import { shortTime } from '../cli/time-text.ts'
import { printTable } from '../cli/table.ts'
import { hasStatus } from '../client/api/errors.ts'
import type { Invite, Role } from '../client/api/namespaces.ts'
import { type Access, explainNamespaceRefusal, openAccess, openNamespace } from './support/access.ts'
import { askForName, openAccount } from './support/account.ts'
import type { ClientOptions } from './support/access.ts'

type MakeOptions = ClientOptions & { readonly role?: Role; readonly email?: string; readonly uses?: number }

const usesText = ({ maxUses = 1, useCount }: Invite): string =>
  maxUses === 0 ? `${useCount} of any number` : `${useCount} of ${maxUses}`

export const make = async (access: Access, options: MakeOptions): Promise<number> => {
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
    return explainNamespaceRefusal(opened, 'invite others')(error)
  })
  if (options.json) await printDocument({ type: 'invite', namespace: slug, invite })
  else {
    say(
      `An invite to "${slug}" as ${invite.role}, valid until ${shortTime(invite.expiresAt)}. Send this command to the person you invite:`,
    )
    const line = (words: string) => clientLine(server, `${words} ${invite.code} --server ${server}`, commandName)
    await printLines([line('invite accept')])
    say(`If they have no user there yet, they run: ${line('login --invite')}`)
    say(`Without a terminal, they open: ${server}/invite/${invite.code}`)
  }
  return exitCodes.ok
}

export const list = async (access: Access, options: ClientOptions & { readonly all?: boolean }): Promise<number> => {
  const opened = await openNamespace(access)
  const { slug, client } = opened
  const all = await client.invites(slug).catch(explainNamespaceRefusal(opened, 'see the invites'))
  const invites = all.filter(({ state }) => options.all || state === 'pending')
  if (options.json) for (const invite of invites) await printDocument({ type: 'invite', namespace: slug, invite })
  else if (invites.length === 0)
    say(`There is no open invite to "${slug}". To create one, run: ${commandName} invite --namespace ${slug}`)
  else {
    const columns = [
      { head: 'code', cell: ({ code }: Invite) => code },
      { head: 'role', cell: ({ role }: Invite) => role },
      { head: 'state', cell: ({ state }: Invite) => state },
      { head: 'used', cell: usesText },
      { head: 'until', cell: ({ expiresAt }: Invite) => shortTime(expiresAt) },
      { head: 'email', cell: ({ email = '-' }: Invite) => email, min: 8, drop: 1 },
    ]
    await printTable(columns, invites)
  }
  return exitCodes.ok
}

export const revoke = async (access: Access, options: ClientOptions, name: string): Promise<number> => {
  const opened = await openNamespace(access)
  const { slug, client } = opened
  const { code } = parseInvite(name)
  await client.revokeInvite(slug, code).catch((error: unknown) => {
    if (!hasStatus(error, 404)) return explainNamespaceRefusal(opened, 'revoke invites')(error)
    throw new UsageError(
      `"${slug}" has no invite ${code}. To list its invites, run: ${commandName} invite ls --namespace ${slug}`,
    )
  })
  if (options.json) await printDocument({ type: 'revoked', namespace: slug, code })
  else await printLines([`Revoked the invite ${code} to "${slug}".`])
  return exitCodes.ok
}

/** The code of an invite. */
export const inviteCode: Secret = {
  question: 'Invite: ',
  variable: 'TRACEBOOK_INVITE_CODE',
  missing: `No invite was given. An admin of the namespace creates one with: ${commandName} invite`,
}

/** The code in a code or link, and the server of a link. @throws UsageError */
const parseInvite = (text: string): { readonly code: string; readonly server?: string } => {
  const url = /^https?:/.test(text) ? URL.parse(text) : undefined
  const match = url && /^(?<base>.*?)\/(?:v1\/)?invites?\/(?<code>[^/]+)\/?$/.exec(url.pathname)
  if (url && !match)
    throw new UsageError(`${text} is not a link to an invite. Such a link ends with /invite/ and the code.`)
  return match
    ? { code: match.groups!['code']!, server: `${url!.origin}${match.groups!['base']}` }
    : { code: text.trim() }
}

const refusedInvite = (code: string) => (error: unknown) => {
  if (hasStatus(error, 404))
    throw new UsageError(`There is no invite ${code}. Ask for the code again.`, { cause: error })
  if (hasStatus(error, 410))
    throw new Error(`${error.message}. Ask an admin of the namespace for another invite.`, { cause: error })
  if (hasStatus(error, 403))
    throw new Error(`${error.message}. To sign in with that address, run: ${commandName} login --codehost`, {
      cause: error,
    })
  throw error
}

export const accept = async (given: Access, options: ClientOptions, name: string | undefined): Promise<number> => {
  const { code, server } = parseInvite(await readSecret(name ?? true, inviteCode))
  const access = server === undefined ? given : openAccess({ server })
  if (options.server !== undefined && access.server !== given.server)
    throw new UsageError(`The link is for ${access.server}: leave out --server.`)
  if ((await access.token()) === undefined)
    throw new UsageError(
      `Not logged in to ${access.server}. To sign up with the invite, run: ${commandName} login --invite ${code} --server ${access.server}`,
    )
  const { client } = await openNamespace(access)
  const namespace = await client.acceptInvite(code).catch(refusedInvite(code))
  if (options.json) await printDocument({ type: 'joined', namespace })
  else {
    const { displayName, slug, role } = namespace
    await printLines([`You are ${role === 'admin' ? 'an admin' : 'a member'} of ${displayName} ("${slug}").`])
    await askForName((await openAccount(access)).account)
    say(`To upload sessions to it, run: ${commandName} sync --namespace ${slug}`)
  }
  return exitCodes.ok
}
