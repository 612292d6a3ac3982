import { countValues } from '../json/count-values.ts'
import { parseExact } from '../json/exact.ts'
import { invalid } from './http-error.ts'

/** What parsing, checking and writing out cost goes by the values of a body, not by its bytes. */
const MOST_VALUES = 200_000

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The value of a body: JSON in UTF-8 of at most 200,000 values.
 * @throws HttpError invalid_request
 */
export const parseBody = (body: Uint8Array, parse: (text: string) => unknown = parseExact): unknown => {
  if (countValues(body, MOST_VALUES) > MOST_VALUES)
    throw invalid(undefined, `The body must not hold more than ${MOST_VALUES} JSON values`)
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
