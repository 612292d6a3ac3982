const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** The first four groups of an IPv6 address: what one household or machine is given as a whole. */
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

/** What counts as one address for limits: an IPv4 address, or the /64 that an IPv6 address is in. */
export const addressKey = (address: string): string => {
  const mapped = MAPPED.exec(address)
  if (mapped) return mapped[1]!
  return address.includes(':') ? prefixOf(address) : address
}
