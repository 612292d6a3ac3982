/**
 * Slugs that no new namespace may have: reserved words, and every first path segment of the service's own URLs (`test/server/namespace/routes.test.ts` holds that).
 * A namespace that has had such a slug before it was reserved keeps it.
 */
const RESERVED: ReadonlySet<string> = new Set(
  `admin assets compare oembed search settings login logout me new register signup static sync health
  api app auth client docs feed help invite invites mcp models namespaces openapi realtime root session sessions signin signout
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

/** Why a new namespace cannot have a slug that is not free. */
export const SLUG_TAKEN = 'is taken: choose another one'

/** Why no new namespace may have this slug, whoever has it; undefined if one may. */
export const problemOfSlug = (text: string): string | undefined => {
  const slug = normalizeSlug(text)
  if (slug === undefined) return 'must be 1 to 64 letters and digits, with single hyphens between them'
  return isReserved(slug) ? 'is reserved: choose another one' : undefined
}
