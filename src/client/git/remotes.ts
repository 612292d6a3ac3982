import { UsageError } from '../../cli/exit.ts'
import { nameInRemote, withoutCredentials } from '../agents/support/git-remote.ts'
import type { GitSetting } from './settings.ts'

const URL_OF = /^remote\.(.+)\.url$/s

/** The addresses of the remotes of a repository, without credentials, that of `origin` first. Of several of one remote the first, from which git fetches. */
const addressesOf = (settings: readonly GitSetting[]): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const { isLocal, name, value } of settings) {
    const remote = URL_OF.exec(name)?.[1]
    const address = isLocal && remote !== undefined && value ? withoutCredentials(value) : undefined
    if (address !== undefined && !found.has(remote!)) found.set(remote!, address)
  }
  const origin = found.get('origin')
  return origin === undefined ? found : new Map([['origin', origin], ...found])
}

/**
 * The addresses by which sessions of a repository are known, at most `most`: those of all remotes, or of the one that was asked for. Of remotes whose
 * addresses have the same last name, which is what counts, the first. @throws UsageError if there is no such remote
 */
export const remotesOf = (
  settings: readonly GitSetting[],
  asked: string | undefined,
  most: number,
): readonly string[] => {
  const addresses = addressesOf(settings)
  if (asked !== undefined) {
    const address = addresses.get(asked)
    if (address === undefined) throw new UsageError(`The repository has no remote "${asked}".`)
    return [address]
  }
  const byName = new Map<string, string>()
  for (const address of addresses.values()) {
    const name = nameInRemote(address)?.toLowerCase() ?? address
    if (!byName.has(name)) byName.set(name, address)
  }
  return [...byName.values()].slice(0, most)
}
