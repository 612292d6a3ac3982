import { BlockList, isIP } from 'node:net'

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
