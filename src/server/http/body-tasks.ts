import { lowerThreadPriority } from '../../base/threads.ts'
import { bodyText, knownMembers } from './json-body.ts'
import { type BodyBytes, consume } from './body-bytes.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import { HttpError } from './http-error.ts'

/** The result of a task on a thread. Errors lose their class between threads, so an HttpError is returned as data. */
export type TaskResult<T> =
  | { readonly value: T }
  | { readonly refused: { readonly code: ErrorCode; readonly message: string; readonly details: unknown } }

/** The input of a task: the bytes of a body, and the members of `more`. */
export type TaskInput<More extends object = object> = More & Pick<BodyBytes, 'pieces'>

/**
 * Calls `read` with the text of a body, whose bytes are freed first. The result is the value of `read`, or the HttpError that
 * `read` or the decoding of the text throws.
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

lowerThreadPriority()

/** The task `members` of the threads of `parse-bodies.ts`, which calls it by name. */
export const members = (input: TaskInput<{ readonly names: readonly string[] }>): TaskResult<unknown> =>
  resultOf(input, (text) => knownMembers(text, input.names))
