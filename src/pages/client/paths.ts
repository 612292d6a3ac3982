/** The page of a namespace. */
export const namespacePath = (slug: string): string => `/@${encodeURIComponent(slug)}`

/** The page of a session. */
export const tracePath = (slug: string, externalId: string): string =>
  `${namespacePath(slug)}/${encodeURIComponent(externalId)}`
