import { countValues } from '../../base/json/count-values.ts'
import { parseExact } from '../../base/json/exact.ts'
import { invalid } from './http-error.ts'

/** A way to read a body, on the event loop or on a thread. */
export type BodyReader<T> = {
  /** Makes of the JSON value of a body what its route needs. @throws HttpError */
  readonly read: (body: unknown, names: readonly string[]) => T
  /** The module that exports `read`, and the name of that export, for threads. */
  readonly module: URL
  readonly name: string
  /** The second argument of `read`. Default: none. */
  readonly names?: readonly string[]
  /** Whether numbers keep their digits (`parseBody`). Default: false. */
  readonly isExact?: boolean
}

/** The time to parse, check and serialize a body depends on the number of its values, not of its bytes. */
const MAX_VALUES = 200_000

const decoder = new TextDecoder('utf-8', { fatal: true })

const orInvalid = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    throw invalid(
      undefined,
      error instanceof SyntaxError || error instanceof RangeError
        ? 'The body is not valid JSON: correct it'
        : String((error as Error).message),
    )
  }
}

/**
 * The text of a body: UTF-8, with at most 200,000 JSON values.
 * @throws HttpError invalid_request
 */
export const bodyText = (body: Uint8Array): string => {
  // A value and its separator take at least two bytes: a body with fewer bytes than this cannot have so many values.
  if (body.length > 2 * MAX_VALUES && countValues(body, MAX_VALUES) > MAX_VALUES)
    throw invalid(undefined, `The body has more than ${MAX_VALUES} JSON values: send less in one request`)
  return orInvalid(() => decoder.decode(body))
}

/**
 * Parses the text of a body, if `isExact` with the digits of its numbers (`parseExact`).
 * @throws HttpError invalid_request
 */
export const parseBody = (text: string, isExact = false): unknown =>
  orInvalid(() => (isExact ? parseExact(text) : JSON.parse(text)))

/** The members of most bodies are small. */
const MAX_MEMBER_VALUES = 1_000
/** A body that lists lines: more than 5,000 in 500 hunks have, with all that is said of each hunk. */
const MAX_MANY_VALUES = 20_000

const hasTooMany = (value: unknown, left: { values: number }): boolean => {
  if ((left.values -= 1) < 0) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((item) => hasTooMany(item, left))
}

const membersOfAtMost =
  (most: number) =>
  (value: unknown, names: readonly string[]): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return []
    const members: Record<string, unknown> = {}
    for (const name of names) {
      if (!Object.hasOwn(value, name)) continue
      members[name] = (value as Record<string, unknown>)[name]
      if (hasTooMany(members[name], { values: most })) throw invalid(name, `must not have more than ${most} values`)
    }
    return members
  }

/**
 * The members of a body with these names, not validated. Others are left out, because the result is copied between threads. If the
 * body is not an object, the result is a value of the same kind, which the validation refuses.
 * @throws HttpError invalid_request
 */
export const knownMembers = membersOfAtMost(MAX_MEMBER_VALUES)

/** The same for bodies that list many values, such as lines. */
export const longMembers = membersOfAtMost(MAX_MANY_VALUES)
