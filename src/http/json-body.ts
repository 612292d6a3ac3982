import { countValues } from '../base/json/count-values.ts'
import { parseExact } from '../base/json/exact.ts'
import { invalid } from './http-error.ts'

/** The costs of parsing, validating and serializing a body depend on its values, not on its bytes. */
const MAX_VALUES = 200_000

const decoder = new TextDecoder('utf-8', { fatal: true })

const orInvalid = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    throw invalid(
      undefined,
      error instanceof SyntaxError || error instanceof RangeError
        ? 'The body is not JSON'
        : String((error as Error).message),
    )
  }
}

/**
 * The text of a body: UTF-8, with at most 200,000 JSON values.
 * @throws HttpError invalid_request
 */
export const bodyText = (body: Uint8Array): string => {
  if (countValues(body, MAX_VALUES) > MAX_VALUES)
    throw invalid(undefined, `The body must not hold more than ${MAX_VALUES} JSON values`)
  return orInvalid(() => decoder.decode(body))
}

/**
 * Parses the text of a body.
 * @throws HttpError invalid_request
 */
export const parseBody = (text: string, parse: (text: string) => unknown = parseExact): unknown =>
  orInvalid(() => parse(text))
