import '../low-priority.ts'
import { wholeOf } from './body-bytes.ts'
import { type Input, type Outcome, outcomeOf } from './body-thread.ts'
import { invalid } from './http-error.ts'
import { parseBody } from './json-body.ts'

/** Members that routes know are texts and numbers; one of more values than this is none. */
const MOST_VALUES = 1_000

const hasMore = (value: unknown, left = { values: MOST_VALUES }): boolean => {
  if ((left.values -= 1) < 0) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((item) => hasMore(item, left))
}

/** Of an object the members of these names: the rest is looked at by nobody, and would have to be copied. */
export const known = ({ names, ...bytes }: Input<{ readonly names: readonly string[] }>): Outcome<unknown> =>
  outcomeOf(() => {
    const value = parseBody(wholeOf(bytes), JSON.parse)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return []
    const members: Record<string, unknown> = {}
    for (const name of names) {
      if (!Object.hasOwn(value, name)) continue
      members[name] = (value as Record<string, unknown>)[name]
      if (hasMore(members[name])) throw invalid(name, `must not hold more than ${MOST_VALUES} values`)
    }
    return members
  })
