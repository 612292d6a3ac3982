/** The page of a namespace. */
export const namespacePath = (slug: string): string => `/@${encodeURIComponent(slug)}`

/** The page of a session. As in `src/base/path-segments.ts`, an id that browsers would take for another place has a tilde before it. */
export const tracePath = (slug: string, externalId: string): string =>
  `${namespacePath(slug)}/${encodeURIComponent(/^~*\.{1,2}$/.test(externalId) ? `~${externalId}` : externalId)}`

/** The sub-agents of a session. */
export const subAgentsPath = (slug: string, externalId: string): string => `${tracePath(slug, externalId)}/-/sub-agents`

/** The session that a path leads to, and nothing behind it. */
export const readTracePath = (path: string): { readonly slug: string; readonly externalId: string } | undefined => {
  const [slug, segment] = (/^\/@([^/]+)\/([^/]+)$/.exec(path) ?? []).slice(1).map(decodeURIComponent)
  if (slug === undefined || segment === undefined) return undefined
  return { slug, externalId: /^~+\.{1,2}$/.test(segment) ? segment.slice(1) : segment }
}
