import { invalid } from './http-error.ts'
import { parseBody } from './json-body.ts'

/** The members of these bodies are small; one with more values is refused. */
const MAX_VALUES = 1_000

const hasTooMany = (value: unknown, left = { values: MAX_VALUES }): boolean => {
  if ((left.values -= 1) < 0) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((item) => hasTooMany(item, left))
}

/**
 * The members of these names of a body that is an object, not validated. Others are left out, because all that is returned is
 * copied between threads. For another body, a value of the same kind, which validation will refuse.
 * @throws HttpError invalid_request
 */
export const knownMembers = (text: string, names: readonly string[]): unknown => {
  const value = parseBody(text, JSON.parse)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return []
  const members: Record<string, unknown> = {}
  for (const name of names) {
    if (!Object.hasOwn(value, name)) continue
    members[name] = (value as Record<string, unknown>)[name]
    if (hasTooMany(members[name])) throw invalid(name, `must not hold more than ${MAX_VALUES} values`)
  }
  return members
}
