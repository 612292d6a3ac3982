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
 * The key of an address for limits: an IPv4 address, or the /64 network of an IPv6 address. A client that has hung up has no
 * address any more, whatever its request says by its type; those share a key.
 */
export const addressKey = (address: string | undefined): string => {
  if (address === undefined) return 'gone'
  const mapped = MAPPED.exec(address)
  if (mapped) return mapped[1]!
  return address.includes(':') ? prefixOf(address) : address
}
