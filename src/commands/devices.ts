import { requireAgreement } from '../cli/ask.ts'
import { clientLine } from '../base/client-line.ts'
import { isLoopback } from '../base/loopback.ts'
import { commandName } from '../cli/command-name.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { shortTime } from '../cli/time-text.ts'
import type { AccountClient, Identity } from '../client/api/account.ts'
import { hasStatus } from '../client/api/errors.ts'
import { removeLogin } from '../client/login/credentials.ts'
import { countOf } from '../client/report/text.ts'
import type { ClientOptions } from './support/access.ts'
import type { Access } from './support/access.ts'
import { explainName, openAccount } from './support/account.ts'

/** A machine, or an account at the code host, that signs in as the user. Times are in milliseconds. */
type Device = Identity & {
  /** The host names that its sessions report; empty without a session. */
  readonly names: readonly string[]
  readonly sessions: number
  readonly lastUsedAt?: number
  /** Whether this machine is logged in with it. */
  readonly current: boolean
}

/** The devices of the user, oldest first. @throws RequestFailed */
const devicesOf = async (account: AccountClient): Promise<readonly Device[]> => {
  const [identities, sessions] = await Promise.all([account.identities(), account.sessions()])
  return identities.map((identity) => {
    const own = sessions.filter(({ identityId }) => identityId === identity.id)
    const names = new Set(own.flatMap(({ deviceName }) => (deviceName === undefined ? [] : [deviceName])))
    const used = own.flatMap(({ lastUsedAt }) => (lastUsedAt === undefined ? [] : [lastUsedAt]))
    return {
      ...identity,
      names: [...names],
      sessions: own.length,
      ...(used.length === 0 ? {} : { lastUsedAt: Math.max(...used) }),
      current: own.some(({ current }) => current),
    }
  })
}

/** A device with the name that its user gave it, else with its host names or its account. */
const deviceText = ({ type, login, name, names }: Device): string => {
  const account = type === 'codehost' ? `code host ${login ?? ''}`.trimEnd() : 'device'
  const shown = name ?? names.join(', ')
  return shown === '' ? account : `${account} (${shown})`
}

const MIN_PREFIX = 4

/** The device with an id, or with a prefix of an id. @throws UsageError for none, and for several */
const deviceNamed = (devices: readonly Device[], name: string): Device => {
  const found = devices.filter(({ id }) => id === name || (name.length >= MIN_PREFIX && id.startsWith(name)))
  if (found.length === 1) return found[0]!
  const what =
    found.length === 0 ? `You have no device "${name}"` : `"${name}" matches ${found.length} devices of yours`
  throw new UsageError(`${what}. To list your devices, run: ${commandName} devices`)
}

const line = (device: Device): string => {
  const { id, sessions, lastUsedAt, current } = device
  const used = lastUsedAt === undefined ? '' : `, last used ${shortTime(lastUsedAt)}`
  return `${current ? '*' : ' '} ${id}  ${deviceText(device)}: ${countOf(sessions, 'session')}${used}`
}

export const list = async (access: Access, { json }: ClientOptions): Promise<number> => {
  const { account, asLogin } = await openAccount(access)
  const devices = await asLogin(devicesOf(account))
  if (!json) await printLines(devices.map(line))
  else
    for (const { type: kind, id, login, name, names, sessions, lastUsedAt, current } of devices)
      await printDocument({ type: 'device', id, kind, login, name, names, sessions, lastUsedAt, current })
  return exitCodes.ok
}

export const add = async (access: Access, { json }: ClientOptions): Promise<number> => {
  const { server } = access
  const { account, asLogin } = await openAccount(access)
  const { code, expiresAt } = await asLogin(account.newDeviceCode())
  const command = clientLine(server, `login --join ${code} --server ${server}`, commandName)
  if (json) {
    await printDocument({ type: 'code', server, code, expiresAt, command })
    return exitCodes.ok
  }
  say(`Run this on the other machine, until ${shortTime(expiresAt)}:`)
  await printLines(['', `  ${command}`, ''])
  say('If you leave the code out, it asks for it; then it does not appear in a list of processes.')
  if (isLoopback(new URL(server).hostname))
    say(`${server} is an address of this machine: replace it by the one at which the other machine reaches the server.`)
  say(`Anyone who enters the code acts as you: keep it to yourself. To list your devices, run: ${commandName} devices`)
  return exitCodes.ok
}

export const rename = async (
  access: Access,
  { json }: ClientOptions,
  device: string,
  name: string,
): Promise<number> => {
  const { account, asLogin } = await openAccount(access)
  const found = deviceNamed(await asLogin(devicesOf(account)), device)
  await account.nameIdentity(found.id, name).catch(explainName)
  if (json) await printDocument({ type: 'renamed', id: found.id, name })
  else await printLines([`Renamed ${deviceText(found)} to "${name}".`])
  return exitCodes.ok
}

const explainLast = (error: unknown): never => {
  if (hasStatus(error, 409)) throw new UsageError('This is your only way to sign in: add another device first.')
  throw error
}

type RemoveOptions = ClientOptions & { readonly yes?: boolean }

export const remove = async (access: Access, options: RemoveOptions, name: string): Promise<number> => {
  const { account, asLogin } = await openAccount(access)
  const device = deviceNamed(await asLogin(devicesOf(account)), name)
  const { id, names, current } = device
  const own = current ? ' It is this machine, which is logged out, too.' : ''
  await requireAgreement(
    `${deviceText(device)} will be signed out, and can no longer sign in as you.${own}`,
    options.yes ?? false,
  )
  await account.removeIdentity(id).catch(explainLast)
  if (current) await removeLogin(access.config, access.server)
  if (options.json) await printDocument({ type: 'removed', id, names, current })
  else await printLines([`Removed ${deviceText(device)}.`])
  return exitCodes.ok
}
