import { BlockList, isIP } from 'node:net'

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** The first four groups of an IPv6 address: the network that one household or machine usually gets. */
const prefixOf = (address: string): string => {
  const [head = '', tail] = address.split('%')[0]!.toLowerCase().split('::')
  const groups = head === '' ? [] : head.split(':')
  const rest = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length)
  const all = [...groups, ...Array.from({ length: zeros }, () => '0'), ...rest]
  return `${all
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

/**
 * The key of an address for limits: an IPv4 address, or the /64 network of an IPv6 address. A client that has closed its connection has no
 * address, although the type of its request says so; all such clients share a key.
 */
export const addressKey = (address: string | undefined): string => {
  if (address === undefined) return 'gone'
  const mapped = MAPPED.exec(address)
  if (mapped) return mapped[1]!
  return address.includes(':') ? prefixOf(address) : address
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

const BRACKETS = /^\[(.*)\]$/

/** Whether a host name or address, as in a URL or in `HOST`, is a loopback one. */
export const isLoopback = (hostname: string): boolean => {
  if (hostname.toLowerCase() === 'localhost') return true
  const address = hostname.replace(BRACKETS, '$1')
  const version = isIP(address)
  return version !== 0 && loopback.check(address, version === 6 ? 'ipv6' : 'ipv4')
}

/** A host and an optional port (RFC 9112), without characters that a URL parser would interpret. */
const FORM = /^(?:\[[\da-f:.]+\]|[^\s:/?#@\\[\]%*]+)(?::\d*)?$/i
const WITH_PORT = /[^:]:\d*$/

/** The normalized name or address in a `Host` header; undefined for an invalid header. */
export const hostnameOf = (header: string): string | undefined =>
  FORM.test(header) ? (URL.parse(`http://${header}`)?.hostname ?? undefined) : undefined

/** The normalized name or address of a text without a port; undefined for any other text. */
export const bareHostOf = (text: string): string | undefined => {
  if (isIP(text) === 6) return hostnameOf(`[${text}]`)
  return WITH_PORT.test(text) && !text.endsWith(']') ? undefined : hostnameOf(text)
}

/** Whether a request came over https: to a trusted proxy, as its `X-Forwarded-Proto` says. */
export const isHttps = ({ protocol }: { readonly protocol: string }): boolean => /^https$/i.test(protocol)
