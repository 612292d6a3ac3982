import { isIP } from 'node:net'

/** A host and perhaps a port, as RFC 9112 has it: nothing that a URL parser would take for something else. */
const FORM = /^(?:\[[\da-f:.]+\]|[^\s:/?#@\\[\]%*]+)(?::\d*)?$/i
const WITH_PORT = /[^:]:\d*$/

/** The name or address that a `Host` header means, as URLs write it; undefined for what means none. */
export const hostnameOf = (header: string): string | undefined =>
  FORM.test(header) ? (URL.parse(`http://${header}`)?.hostname ?? undefined) : undefined

/** A name or an address without a port, as URLs write it; undefined for anything else. */
export const bareHostOf = (text: string): string | undefined => {
  if (isIP(text) === 6) return hostnameOf(`[${text}]`)
  return WITH_PORT.test(text) && !text.endsWith(']') ? undefined : hostnameOf(text)
}
