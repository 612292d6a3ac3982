import { ofSegment, toSegment } from '../../base/path-segments.ts'
import { trimEndMatching } from '../../base/texts.ts'

/** The trace in a link, and the externalId of the message in it that the link leads to. `server` is an address without a trailing slash. */
type LinkedTrace = {
  readonly server: string
  readonly externalId: string
  readonly namespace?: string
  readonly message?: string
}

/** The address of a namespace's page, for people. */
export const namespaceLink = (server: string, namespace: string): string =>
  `${server}/@${encodeURIComponent(namespace)}`

/** The address of a trace's page, for people; with the externalId of a message, that of the message in it. */
export const traceLink = (server: string, namespace: string, externalId: string, message?: string): string =>
  `${namespaceLink(server, namespace)}/${toSegment(externalId)}${message === undefined ? '' : `?m=${encodeURIComponent(message)}`}`

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

type Named = { readonly base: readonly string[]; readonly namespace?: string; readonly externalId: string }

/** The trace in the path of a page: `…/@<namespace>/<externalId>`, maybe followed by `/-/` and more. */
const ofPage = (parts: readonly string[]): Named | undefined => {
  const at = parts.findIndex((part) => part.startsWith('@') && part.length > 1)
  const [namespace, externalId, next = '-'] = parts.slice(at)
  if (at < 0 || !externalId || next !== '-') return undefined
  return { base: parts.slice(0, at), namespace: namespace!.slice(1), externalId: ofSegment(externalId) }
}

/** The trace in a path of the API: `…/v1/traces/<externalId>`, maybe followed by more. */
const ofRoute = (parts: readonly string[]): Named | undefined => {
  const at = parts.findIndex((part, index) => part === 'v1' && parts[index + 1] === 'traces')
  const externalId = at < 0 ? undefined : parts[at + 2]
  return externalId ? { base: parts.slice(0, at), externalId } : undefined
}

/** The trace that an address leads to, which is that of a trace's page or of the API. Undefined for any other text. */
export const parseTraceLink = (text: string): LinkedTrace | undefined => {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  const parts = trimEndMatching(url.pathname, /\//).split('/')
  const named = ofPage(parts) ?? ofRoute(parts)
  const externalId = named && decode(named.externalId)
  if (!externalId) return undefined
  const namespace = decode(named.namespace ?? '') || url.searchParams.get('namespace')
  const message = url.searchParams.get('m')
  return {
    server: `${url.origin}${named.base.join('/')}`,
    externalId,
    ...(namespace ? { namespace } : {}),
    ...(message ? { message } : {}),
  }
}
