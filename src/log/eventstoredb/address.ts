/** What `EVENTSTORE_URL` says, with our own parameters taken out and the ways in which the client is picky made good. */
export type Address = {
  /** For `EventStoreDBClient.connectionString`. Connections with different numbers are never shared. */
  readonly clientUrl: (number: number) => string
  readonly credentials: { readonly username: string; readonly password: string }
  readonly prefix: string
  readonly maxAppendBytes: number | undefined
}

/** The URL cannot be used. Never holds the URL: there may be a password in it. */
export class BadAddress extends Error {
  override readonly name = 'BadAddress'
}

const PREFIX = 'tracebook.'
const KEEP_ALIVE_MS = 10_000

// The client warns of others on the console with the whole URL, and of tlsVerifyCert that it does nothing.
const known = [
  'tls',
  'tlsCAFile',
  'userCertFile',
  'userKeyFile',
  'connectionName',
  'discoveryInterval',
  'gossipTimeout',
  'maxDiscoverAttempts',
  'nodePreference',
  'keepAliveInterval',
  'keepAliveTimeout',
  'defaultDeadline',
  'throwOnAppendFailure',
]
/** Ours to decide: conflicts must throw, and every call brings a deadline. */
const overruled = ['throwOnAppendFailure', 'defaultDeadline', 'keepAliveInterval']

const flat = (name: string) => name.trim().toLowerCase().replace(/[_-]/g, '')

const split = (query: string) =>
  query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=')
      return at < 0 ? { name: flat(pair), value: '' } : { name: flat(pair.slice(0, at)), value: pair.slice(at + 1) }
    })

const credentialsOf = (authority: string) => {
  // Per-call credentials keep appends off the batch path, whose promises all clients of a process share; without TLS
  // the client does not send them.
  const found = /^([^:@]+):([^@]*)@/.exec(authority)
  const [username, password] = found ? [found[1]!, found[2]!] : ['tracebook', 'tracebook']
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) }
}

/** Node does not send an IP address as the name of a TLS server, and the client sends nothing else. */
const assertNamed = (authority: string, tls: string | undefined) => {
  const hosts = authority.slice(authority.indexOf('@') + 1).split(',')
  if (tls !== 'false' && hosts.some((host) => /^[\d.]+(:\d+)?$/.test(host)))
    throw new BadAddress('with TLS hosts must be names, not IP addresses; also those that a cluster advertises')
}

const prefixOf = (value: string | undefined) => {
  const prefix = value === undefined ? PREFIX : decodeURIComponent(value)
  if (prefix === '' || prefix.startsWith('$')) throw new BadAddress('streamPrefix must not be empty or begin with $')
  return prefix
}

const bytesOf = (value: string | undefined) => {
  if (value === undefined) return undefined
  const bytes = Number(value)
  if (!Number.isSafeInteger(bytes) || bytes < 64) throw new BadAddress('maxAppendBytes must be a number of bytes')
  return bytes
}

/**
 * Takes a URL apart: `esdb://`, `esdb+discover://`, or the same with `kurrentdb`, with the parameters of the client
 * (but those that would weaken what the log promises) and ours: `streamPrefix`, `maxAppendBytes`.
 * @throws BadAddress
 */
export const parseAddress = (url: string): Address => {
  const found = /^(?:esdb|kurrentdb)(\+discover)?:\/\/([^/?]+)\/*(?:\?(.*))?$/i.exec(url.trim())
  if (!found) throw new BadAddress('must look like esdb://host:2113 or esdb+discover://host:2113')
  const [, discover = '', authority = '', query = ''] = found
  const parameters = split(query)
  const own = (name: string) => parameters.findLast((parameter) => parameter.name === flat(name))?.value
  const names = [...known, 'streamPrefix', 'maxAppendBytes'].map(flat)
  for (const { name } of parameters) if (!names.includes(name)) throw new BadAddress(`unknown parameter ${name}`)

  const keepAlive = Number(own('keepAliveInterval') ?? KEEP_ALIVE_MS)
  if (!Number.isSafeInteger(keepAlive) || keepAlive < KEEP_ALIVE_MS)
    throw new BadAddress(`keepAliveInterval must be at least ${KEEP_ALIVE_MS}`)
  assertNamed(authority, own('tls'))
  const dropped = [...overruled, 'streamPrefix', 'maxAppendBytes'].map(flat)
  const kept = parameters.filter(({ name }) => !dropped.includes(name)).map(({ name, value }) => `${name}=${value}`)
  // With several hosts the client takes them as seeds of gossip anyway; told to discover it would ask the first only.
  const base = `esdb${authority.includes(',') ? '' : discover.toLowerCase()}://${authority}`
  return {
    clientUrl: (number) => `${base}?${[...kept, `keepAliveInterval=${keepAlive + number}`].join('&')}`,
    credentials: credentialsOf(authority),
    prefix: prefixOf(own('streamPrefix')),
    maxAppendBytes: bytesOf(own('maxAppendBytes')),
  }
}
