import type { AccountClient, Identity } from '../../sync/api/account.ts'

/** A machine, or an account at the code host, that signs in as the user. Times are in milliseconds. */
export type Device = Identity & {
  /** What its sessions call it; empty without a session. */
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

/** What a device is called: by its sessions, or by its account. */
export const deviceText = ({ type, login, names }: Device): string => {
  const account = type === 'codehost' ? `code host ${login ?? ''}`.trimEnd() : 'device'
  return names.length === 0 ? account : `${account} (${names.join(', ')})`
}
