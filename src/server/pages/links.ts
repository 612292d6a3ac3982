import { ofSegment, toSegment } from '../../base/path-segments.ts'

/** The addresses of pages that have a name or an id in them. Every link to such a page is made here. */

/** A text encoded for an address. An address cannot have lone surrogates, so they are replaced. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

/** The page of a namespace. */
export const namespacePath = (slug: string): string => `/@${encoded(slug)}`

/** The page on which a namespace is made. */
export const NEW_NAMESPACE = '/new'

/** A page beneath that of a namespace. */
export const beneathNamespace = (slug: string, name: string): string => `${namespacePath(slug)}/-/${name}`

/** The insights of a namespace, over so many days; without them over the usual ones. */
export const insightsPath = (slug: string, days?: number): string =>
  `${beneathNamespace(slug, 'insights')}${days === undefined ? '' : `?days=${days}`}`

/** The recorded commits of a namespace, all or those with lines of a trace. */
export const commitsPath = (
  slug: string,
  { trace, cursor }: { readonly trace?: string | undefined; readonly cursor?: string | undefined } = {},
): string => {
  const query = new URLSearchParams({
    ...(trace === undefined ? {} : { trace: trace.toWellFormed() }),
    ...(cursor === undefined ? {} : { cursor }),
  })
  return `${beneathNamespace(slug, 'commits')}${query.size === 0 ? '' : `?${query.toString()}`}`
}

/** The page of a trace; with a message, the page at that message. */
export const tracePath = (slug: string, externalId: string, messageId?: string): string =>
  `${namespacePath(slug)}/${toSegment(externalId)}${messageId === undefined ? '' : `?m=${encoded(messageId)}`}`

/** A page beneath that of a trace. */
export const beneathTrace = (slug: string, externalId: string, name: string): string =>
  `${tracePath(slug, externalId)}/-/${name}`

/** The sub-agents of a trace. */
export const subAgentsPath = (slug: string, externalId: string): string => beneathTrace(slug, externalId, 'sub-agents')

/** The page of one message of a trace. */
export const messagePath = (slug: string, externalId: string, messageId: string): string =>
  beneathTrace(slug, externalId, `message/${toSegment(messageId)}`)

/** The page that says how a trace goes on, as a whole or from a message. */
export const continuePath = (slug: string, externalId: string, messageId?: string): string =>
  `${beneathTrace(slug, externalId, 'continue')}${messageId === undefined ? '' : `?m=${encoded(messageId)}`}`

/** What evidence of a trace proves, with the file. */
export const evidencePath = (slug: string, externalId: string): string => beneathTrace(slug, externalId, 'evidence')

/** The evidence file of a trace. */
export const evidenceFilePath = (slug: string, externalId: string): string =>
  beneathTrace(slug, externalId, 'evidence.json')

/** The timeline of a trace, from its newest entry or from where a cursor says. */
export const traceTimelinePath = (slug: string, externalId: string, cursor?: string): string =>
  `${beneathTrace(slug, externalId, 'timeline')}${cursor === undefined ? '' : `?${new URLSearchParams({ cursor }).toString()}`}`

/** The proof of an event of a trace, as the API has it. */
export const eventProofPath = (slug: string, externalId: string, revision: number): string =>
  `/v1/traces/${encoded(externalId)}/events/${revision}/proof?namespace=${encoded(slug)}`

/** The page of an invite. */
export const invitePath = (code: string): string => `/invite/${encoded(code)}`

/** The code in the path of an invite's page; undefined for any other path. */
export const readInvitePath = (path: string): string | undefined => {
  const [, code] = /^\/invite\/([^/?]+)$/.exec(path) ?? []
  try {
    return code === undefined ? undefined : decodeURIComponent(code)
  } catch {
    return undefined
  }
}

/** The page for signing in, which leads back to this path. */
export const signInPath = (next: string): string => (next === '/' ? '/signin' : `/signin?next=${encoded(next)}`)

/** The trace that an address of the service at `origin` leads to; undefined for any other address. */
export const readTracePath = (
  url: URL | null,
  origin: string | undefined,
): { readonly namespace: string; readonly externalId: string } | undefined => {
  if (url === null || url.origin !== origin) return undefined
  const [, slug, id] = /^\/(?:@|%40)([^/]+)\/([^/]+)$/.exec(url.pathname) ?? []
  if (slug === undefined || id === undefined) return undefined
  try {
    return { namespace: decodeURIComponent(slug), externalId: ofSegment(decodeURIComponent(id)) }
  } catch {
    return undefined
  }
}
