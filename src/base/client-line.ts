import { isLoopback } from './loopback.ts'
import { version } from './version.ts'

/** The name of the client's npm package, which each service of this version serves below `/client/`. */
export const clientFileName = `tracebook-${version}.tgz`

/** Whether a program may be fetched from an address: nobody on the way can have changed it. */
const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))

/** The address of the client's package at a service; undefined without an address, and for one of plain HTTP in a network. */
export const clientPackageAt = (service: string | undefined): string | undefined => {
  const url = URL.parse(service ?? '')
  if (!url || !isSafe(url)) return undefined
  const folder = url.href.endsWith('/') ? url.href.slice(0, -1) : url.href
  return `${folder}/client/${clientFileName}`
}

/**
 * A command of the client for a reader who has no clone: npx fetches the client from a service. Where it cannot, the command begins with `otherwise`,
 * which is how a clone calls it.
 */
export const clientLine = (service: string | undefined, words: string, otherwise = 'npx tracebook'): string => {
  const fetched = clientPackageAt(service)
  return `${fetched === undefined ? otherwise : `npx --yes ${fetched}`} ${words}`
}
