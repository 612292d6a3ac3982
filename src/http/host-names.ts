import { isIP } from 'node:net'

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
