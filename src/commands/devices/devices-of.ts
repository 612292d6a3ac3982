import { commandName } from '../../cli/command-name.ts'
import { UsageError } from '../../cli/exit.ts'
import type { AccountClient, Identity } from '../../sync/api/account.ts'

/** A machine, or an account at the code host, that signs in as the user. Times are in milliseconds. */
export type Device = Identity & {
  /** What its sessions call it, which is the name of its host; empty without a session. */
  readonly names: readonly string[]
  readonly sessions: number
  readonly lastUsedAt?: number
  /** Whether this machine is logged in with it. */
  readonly current: boolean
}

/** The devices of the user, oldest first. Throws RequestFailed. */
export const devicesOf = async (account: AccountClient): Promise<readonly Device[]> => {
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

/** What a device is called: by its user, else by its sessions, or by its account. */
export const deviceText = ({ type, login, name, names }: Device): string => {
  const account = type === 'codehost' ? `code host ${login ?? ''}`.trimEnd() : 'device'
  const called = name ?? names.join(', ')
  return called === '' ? account : `${account} (${called})`
}

const MIN_PREFIX = 4

/** The device that a user names by its id, or by the beginning of one. @throws UsageError for none, and for several */
export const deviceNamed = (devices: readonly Device[], name: string): Device => {
  const found = devices.filter(({ id }) => id === name || (name.length >= MIN_PREFIX && id.startsWith(name)))
  if (found.length === 1) return found[0]!
  const what = found.length === 0 ? `You have no device "${name}"` : `Several of your devices begin with "${name}"`
  throw new UsageError(`${what}. Yours are listed by: ${commandName} devices`)
}
