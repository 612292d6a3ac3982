/** What a link to a trace names. `server` is its address without a trailing slash. */
export type LinkedTrace = { readonly server: string; readonly externalId: string; readonly namespace?: string }

/** The address of a trace's page, for people. */
export const traceLink = (server: string, namespace: string, externalId: string): string =>
  `${server}/@${encodeURIComponent(namespace)}/${encodeURIComponent(externalId)}`

const PAGE = /^(?<base>.*?)\/@(?<namespace>[^/]+)\/(?<externalId>[^/]+)(?:\/-\/.*)?\/?$/
const ROUTE = /^(?<base>.*?)\/v1\/traces\/(?<externalId>[^/]+)(?:\/.*)?$/

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** The trace that an address leads to: that of its page, or one of the API. Undefined for any other text. */
export const parseTraceLink = (text: string): LinkedTrace | undefined => {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  const { base = '', ...names } = (PAGE.exec(url.pathname) ?? ROUTE.exec(url.pathname))?.groups ?? {}
  const externalId = decode(names['externalId'] ?? '')
  const namespace = decode(names['namespace'] ?? '') || url.searchParams.get('namespace')
  if (!externalId) return undefined
  return { server: `${url.origin}${base}`, externalId, ...(namespace ? { namespace } : {}) }
}
