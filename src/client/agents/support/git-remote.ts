const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i
/** An address for a remote helper of git, such as `codecommit::eu-1://app`. */
const HELPER = /^[a-z0-9+.-]+::/i
const LOCAL_PATH = /^(?:[a-z]:[\\/](?![\\/])|\/(?!\/)|\.{1,2}(?:[\\/]|$)|~[\w.-]*(?:[\\/]|$))/i
const SSH = /^(?:ssh|git\+ssh|ssh\+git):$/
/** A host and a path, `git@host:path`. A path with an `@` inside does not match, because it may be the end of a password. */
const SCP = /^(?:[\w.~-]+@(?:[\w.-]+|\[[\w.:-]+\]):.*|(?:[\w.-]+|\[[\w.:-]+\]):(?:[^@]|(?<=[/:])@)*|[^:@]+)$/s

/** The user in an SSH address, where it names an account. In other addresses it may be a token. */
const accountOf = ({ protocol, username }: URL): string =>
  SSH.test(protocol) && /^[\w.~-]+$/.test(username) ? `${username}@` : ''

const ofUrl = (remote: string): string | undefined => {
  const url = URL.parse(remote)
  if (!url) return undefined
  const start = SCHEME.exec(remote)![0]
  const rest = remote.slice(start.length).replace(/^[^/?#]*@/, '')
  return `${start}${accountOf(url)}${rest.replace(/[?#].*$/s, '')}`
}

/** An address such as `user:password@host:path`, without the user where it has a password. */
const ofScp = (remote: string): string | undefined => {
  const [authority = ''] = remote.split(/[\\/]/, 1)
  const end = authority.lastIndexOf('@')
  const address = authority.slice(0, Math.max(end, 0)).includes(':') ? remote.slice(end + 1) : remote
  return SCP.test(address) && !address.startsWith('//') ? address : undefined
}

/**
 * The address of a git remote without credentials: without password and query, and with a user over SSH only. Undefined for an
 * address of an unknown form, in which a password could be anywhere.
 */
export const withoutCredentials = (remote: string): string | undefined => {
  const trimmed = remote.trim()
  if (/\p{Cc}/u.test(trimmed)) return undefined
  if (SCHEME.test(trimmed)) return ofUrl(trimmed)
  if (LOCAL_PATH.test(trimmed)) return trimmed
  const [helper] = HELPER.exec(trimmed) ?? []
  if (helper === undefined) return ofScp(trimmed)
  // The rest is a command, which may contain a password anywhere.
  if (/^ext:/i.test(helper)) return undefined
  const address = withoutCredentials(trimmed.slice(helper.length))
  return address === undefined ? undefined : `${helper}${address}`
}

/** The name of the repository in the address of a remote: its last segment, without `.git`. */
export const nameInRemote = (remote: string): string | undefined => {
  const last = remote
    .split(/[\\/:]/)
    .filter(Boolean)
    .at(-1)
  return last?.replace(/\.git$/, '') || undefined
}
