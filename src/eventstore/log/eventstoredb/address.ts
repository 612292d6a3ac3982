/** The parts of `EVENTSTORE_URL`: for the client, and parameters of this adapter. */
export type Address = {
  /** The URL for `EventStoreDBClient.connectionString`. Clients with different numbers never share a connection. */
  readonly clientUrl: (number: number) => string
  /** The hosts of the URL, each with its port. */
  readonly hosts: readonly string[]
  /** The same URL for one host, which a client connects to whatever that host knows of a cluster. */
  readonly directUrl: (host: string) => string
  readonly credentials: { readonly username: string; readonly password: string }
  readonly prefix: string
  readonly maxAppendBytes: number | undefined
}

/** The URL cannot be used. The message never contains the URL, which may have a password. */
export class BadAddress extends Error {
  override readonly name = 'BadAddress'
}

const PREFIX = 'tracebook.'
const KEEP_ALIVE_MS = 10_000
const DEFAULT_PORT = 2113
/** Seconds. The client asks one seed after the other, each for 5 s by default: as long as an append may take in all. */
const GOSSIP_TIMEOUT = 1

// For any other parameter the client would print a warning with the whole URL. (tlsVerifyCert has no effect.)
const clientParameters = [
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
/** Accepted but ignored, because this adapter needs its own values. */
const ignoredParameters = ['throwOnAppendFailure', 'defaultDeadline', 'keepAliveInterval']

const normalised = (name: string) => name.trim().toLowerCase().replace(/[_-]/g, '')

const parseQuery = (query: string) =>
  query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=')
      return equals < 0
        ? { name: normalised(pair), value: '' }
        : { name: normalised(pair.slice(0, equals)), value: pair.slice(equals + 1) }
    })

const credentialsOf = (authority: string) => {
  // Always set: a call with credentials does not use the client's batch path, which shares promises between all clients
  // of a process. Without TLS the client does not send them.
  const found = /^([^:@]+):([^@]*)@/.exec(authority)
  const [username, password] = found ? [found[1]!, found[2]!] : ['tracebook', 'tracebook']
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) }
}

const hostsOf = (authority: string) => authority.slice(authority.indexOf('@') + 1).split(',')

/** With TLS the client cannot connect to an IP address, because it sends the host as the server's name. @throws BadAddress */
const assertHostNames = (hosts: readonly string[], tls: string | undefined) => {
  if (tls !== 'false' && hosts.some((host) => /^[\d.]+(:\d+)?$/.test(host)))
    throw new BadAddress('with tls=true hosts must be names, not IP addresses; also those that a cluster advertises')
}

const prefixOf = (value: string | undefined) => {
  const prefix = value === undefined ? PREFIX : decodeURIComponent(value)
  if (prefix === '' || prefix.startsWith('$')) throw new BadAddress('streamPrefix must not be empty or begin with $')
  return prefix
}

const bytesOf = (value: string | undefined) => {
  if (value === undefined) return undefined
  const bytes = Number(value)
  if (!Number.isSafeInteger(bytes) || bytes < 64)
    throw new BadAddress('maxAppendBytes must be a number of bytes, at least 64')
  return bytes
}

/**
 * Parses `esdb://` and `esdb+discover://` URLs, or the same with `kurrentdb`, with parameters of the client and of this adapter:
 * `streamPrefix` and `maxAppendBytes`. Parameters of the client that would weaken the log's guarantees are ignored.
 * @throws BadAddress
 */
export const parseAddress = (url: string): Address => {
  const found = /^(?:esdb|kurrentdb)(\+discover)?:\/\/([^/?]+)\/*(?:\?(.*))?$/i.exec(url.trim())
  if (!found) throw new BadAddress('must look like esdb://host:2113 or esdb+discover://host:2113')
  const [, discover = '', authority = '', query = ''] = found
  const parameters = parseQuery(query)
  const valueOf = (name: string) => parameters.findLast((parameter) => parameter.name === normalised(name))?.value
  const names = [...clientParameters, 'streamPrefix', 'maxAppendBytes'].map(normalised)
  for (const { name } of parameters)
    if (!names.includes(name)) throw new BadAddress(`unknown parameter ${name}: remove it`)

  const keepAlive = Number(valueOf('keepAliveInterval') ?? KEEP_ALIVE_MS)
  if (!Number.isSafeInteger(keepAlive) || keepAlive < KEEP_ALIVE_MS)
    throw new BadAddress(`keepAliveInterval must be at least ${KEEP_ALIVE_MS} milliseconds`)
  const hosts = hostsOf(authority)
  assertHostNames(hosts, valueOf('tls'))
  const dropped = [...ignoredParameters, 'streamPrefix', 'maxAppendBytes'].map(normalised)
  const passedOn = parameters.filter(({ name }) => !dropped.includes(name)).map(({ name, value }) => `${name}=${value}`)
  const discovers = discover !== '' || hosts.length > 1
  if (discovers && valueOf('gossipTimeout') === undefined) passedOn.push(`gossipTimeout=${GOSSIP_TIMEOUT}`)
  const queryOf = (keepAliveMs: number) => [...passedOn, `keepAliveInterval=${keepAliveMs}`].join('&')
  // The client always uses several hosts as gossip seeds; with `+discover` it would use only the first one.
  const base = `esdb${authority.includes(',') ? '' : discover.toLowerCase()}://${authority}`
  return {
    clientUrl: (number) => `${base}?${queryOf(keepAlive + number)}`,
    hosts: hosts.map((host) => (/:\d+$/.test(host) ? host : `${host}:${DEFAULT_PORT}`)),
    directUrl: (host) => `esdb://${host}?${queryOf(keepAlive)}`,
    credentials: credentialsOf(authority),
    prefix: prefixOf(valueOf('streamPrefix')),
    maxAppendBytes: bytesOf(valueOf('maxAppendBytes')),
  }
}
