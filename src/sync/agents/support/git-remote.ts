const scheme = /^([a-z][a-z0-9+.-]*):\/\//i

/** Whether the user's name is a credential too: over HTTP it may be a token, over SSH it is the account. */
const isWeb = (url: URL): boolean => url.protocol === 'http:' || url.protocol === 'https:'

const parse = (url: string): URL | undefined => {
  try {
    return new URL(url)
  } catch {
    return undefined
  }
}

const ofUrl = (remote: string): string | undefined => {
  const url = parse(remote)
  if (!url) return undefined
  const start = remote.match(scheme)![0]
  const rest = remote.slice(start.length).replace(/^[^/?#]*@/, '')
  const user = isWeb(url) || url.username === '' ? '' : `${url.username}@`
  return `${start}${user}${rest.replace(/[?#].*$/s, '')}`
}

/** An address such as `user:password@host:path`, without its user when there is a password. */
const ofScp = (remote: string): string => {
  const [authority = ''] = remote.split(/[\\/]/, 1)
  const end = authority.lastIndexOf('@')
  return authority.slice(0, Math.max(end, 0)).includes(':') ? remote.slice(end + 1) : remote
}

/**
 * The address of a git remote without credentials: no password, no query, and over HTTP no user. Undefined for an address
 * that cannot be parsed, because it could not be said where in it a password is.
 */
export const withoutCredentials = (remote: string): string | undefined => {
  const trimmed = remote.trim()
  if (scheme.test(trimmed)) return ofUrl(trimmed)
  return ofScp(trimmed) || undefined
}
