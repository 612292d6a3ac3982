import { isObject, type Json, objectOf, parseObject } from './json.ts'
import { withoutBinary } from './media.ts'

/** The arguments of a call: an object as it is, nothing as an empty one, anything else as `input`. */
export const argsOf = (input: unknown): Json => {
  if (isObject(input)) return input
  return input === undefined || input === null ? {} : { input }
}

/** The arguments of a call, which may also be the text of a JSON object; blank text is nothing. */
export const argsOfJson = (input: unknown): Json => {
  if (typeof input !== 'string') return argsOf(input)
  return input.trim() === '' ? {} : (parseObject(input) ?? { input })
}

/** The arguments of a call, with placeholders instead of binary content. */
export const argsWithoutBinary = (input: unknown): Json => objectOf(withoutBinary(argsOf(input)))
