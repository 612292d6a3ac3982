import { type BodyBytes, consume } from './body-bytes.ts'
import { type Code, HttpError } from './http-error.ts'
import { bodyText } from './json-body.ts'

/** The result of a task on a thread. Errors lose their class between threads, so a refusal is returned as data. */
export type TaskResult<T> =
  | { readonly value: T }
  | { readonly refused: { readonly code: Code; readonly message: string; readonly details: unknown } }

/** The input of a task: the bytes of a body, and the members of `more`. */
export type TaskInput<More extends object = object> = More & Pick<BodyBytes, 'pieces'>

/**
 * Reads the text of a body, whose bytes are freed before. Returns the value of `read`, or the HttpError that the text or it
 * throws, as a `TaskResult`.
 */
export const resultOf = <T>(input: TaskInput, read: (text: string) => T): TaskResult<T> => {
  try {
    return { value: read(consume(input, bodyText)) }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    const { code, message, details } = error
    return { refused: { code, message, details } }
  }
}
