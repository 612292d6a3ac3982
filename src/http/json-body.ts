import { countValues } from '../json/count-values.ts'
import { parseExact } from '../json/exact.ts'
import { invalid } from './http-error.ts'

/** The costs of parsing, validating and serializing a body depend on its values, not on its bytes. */
const MAX_VALUES = 200_000

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses a body: JSON in UTF-8 with at most 200,000 values.
 * @throws HttpError invalid_request
 */
export const parseBody = (body: Uint8Array, parse: (text: string) => unknown = parseExact): unknown => {
  if (countValues(body, MAX_VALUES) > MAX_VALUES)
    throw invalid(undefined, `The body must not hold more than ${MAX_VALUES} JSON values`)
  try {
    return parse(decoder.decode(body))
  } catch (error) {
    throw invalid(
      undefined,
      error instanceof SyntaxError || error instanceof RangeError
        ? 'The body is not JSON'
        : String((error as Error).message),
    )
  }
}
