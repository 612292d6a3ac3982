import type { BodyBytes } from './body-bytes.ts'
import { type Code, HttpError } from './http-error.ts'

/** The result of a task on a thread. Errors lose their class between threads, so a refusal is returned as data. */
export type TaskResult<T> =
  | { readonly value: T }
  | { readonly refused: { readonly code: Code; readonly message: string; readonly details: unknown } }

/** The input of a task: the bytes of a body, and the members of `more`. */
export type TaskInput<More extends object = object> = More & Pick<BodyBytes, 'pieces'>

/** Runs `read`, and returns its value, or the HttpError that it throws, as a `TaskResult`. */
export const resultOf = <T>(read: () => T): TaskResult<T> => {
  try {
    return { value: read() }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    const { code, message, details } = error
    return { refused: { code, message, details } }
  }
}
