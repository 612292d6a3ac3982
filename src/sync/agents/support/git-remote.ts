const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i
/** What a program of its own fetches, such as `codecommit::eu-1://app`. */
const HELPER = /^[a-z0-9+.-]+::/i
const LOCAL_PATH = /^(?:[a-z]:[\\/](?![\\/])|\/(?!\/)|\.{1,2}(?:[\\/]|$)|~[\w.-]*(?:[\\/]|$))/i
const SSH = /^(?:ssh|git\+ssh|ssh\+git):$/
/** The host, or a name for it, and the path: `git@host:path`. A path with an `@` inside may be the rest of a password. */
const SCP = /^(?:[\w.~-]+@(?:[\w.-]+|\[[\w.:-]+\]):.*|(?:[\w.-]+|\[[\w.:-]+\]):(?:[^@]|(?<=[/:])@)*|[^:@]+)$/s

/** Over SSH the user is the account; elsewhere it may be a token. */
const accountOf = ({ protocol, username }: URL): string =>
  SSH.test(protocol) && /^[\w.~-]+$/.test(username) ? `${username}@` : ''

const ofUrl = (remote: string): string | undefined => {
  const url = URL.parse(remote)
  if (!url) return undefined
  const start = SCHEME.exec(remote)![0]
  const rest = remote.slice(start.length).replace(/^[^/?#]*@/, '')
  return `${start}${accountOf(url)}${rest.replace(/[?#].*$/s, '')}`
}

/** An address such as `user:password@host:path`, without its user when there is a password. */
const ofScp = (remote: string): string | undefined => {
  const [authority = ''] = remote.split(/[\\/]/, 1)
  const end = authority.lastIndexOf('@')
  const address = authority.slice(0, Math.max(end, 0)).includes(':') ? remote.slice(end + 1) : remote
  return SCP.test(address) && !address.startsWith('//') ? address : undefined
}

/**
 * The address of a git remote without credentials: no password, no query, and a user over SSH only. Undefined for an address
 * of no known form, because it could not be said where in it a password is.
 */
export const withoutCredentials = (remote: string): string | undefined => {
  const trimmed = remote.trim()
  if (/\p{Cc}/u.test(trimmed)) return undefined
  if (SCHEME.test(trimmed)) return ofUrl(trimmed)
  if (LOCAL_PATH.test(trimmed)) return trimmed
  const [helper] = HELPER.exec(trimmed) ?? []
  if (helper === undefined) return ofScp(trimmed)
  // The rest is a command, in which anything may be.
  if (/^ext:/i.test(helper)) return undefined
  const address = withoutCredentials(trimmed.slice(helper.length))
  return address === undefined ? undefined : `${helper}${address}`
}
