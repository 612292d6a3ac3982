/** Slugs that no namespace may have: reserved words, and first path segments of the service's own URLs. */
const RESERVED: ReadonlySet<string> = new Set(
  `admin assets compare oembed search settings login logout me new register signup static sync health
  api app auth docs feed help invite invites models namespaces openapi realtime root session sessions signin signout
  status support system traces user users v1 www metrics`.split(/\s+/),
)

const FORMAT = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/

/** A slug as it is stored, trimmed and in lower case; undefined for a text that cannot be a slug. */
export const normalizeSlug = (text: string): string | undefined => {
  const slug = text.trim().toLowerCase()
  return FORMAT.test(slug) && !slug.includes('--') ? slug : undefined
}

/** Whether a normalized slug is reserved. */
export const isReserved = (slug: string): boolean => RESERVED.has(slug)
