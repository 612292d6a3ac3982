import { invalid } from './http-error.ts'
import { parseBody } from './json-body.ts'

/** Members that routes know are texts and numbers; one of more values than this is none. */
const MOST_VALUES = 1_000

const hasMore = (value: unknown, left = { values: MOST_VALUES }): boolean => {
  if ((left.values -= 1) < 0) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((item) => hasMore(item, left))
}

/**
 * Of a body that is an object the members of these names, unchecked: the rest is nobody's business, and would have to be
 * copied from the thread that read it. Of anything else enough to be refused.
 * @throws HttpError invalid_request
 */
export const knownMembers = (body: Uint8Array, names: readonly string[]): unknown => {
  const value = parseBody(body, JSON.parse)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return []
  const members: Record<string, unknown> = {}
  for (const name of names) {
    if (!Object.hasOwn(value, name)) continue
    members[name] = (value as Record<string, unknown>)[name]
    if (hasMore(members[name])) throw invalid(name, `must not hold more than ${MOST_VALUES} values`)
  }
  return members
}
