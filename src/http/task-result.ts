import type { BodyBytes } from './body-bytes.ts'
import { type Code, HttpError } from './http-error.ts'

/** What a task on a thread came to: an error that is handed from one thread to another is no HttpError any more. */
export type TaskResult<T> =
  | { readonly value: T }
  | { readonly refused: { readonly code: Code; readonly message: string; readonly details: unknown } }

/** What a task gets: a body's bytes, and what it asked for besides. */
export type TaskInput<More extends object = object> = More & Pick<BodyBytes, 'pieces'>

/** What `read` gives or refuses, as it can be handed to another thread. */
export const resultOf = <T>(read: () => T): TaskResult<T> => {
  try {
    return { value: read() }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    const { code, message, details } = error
    return { refused: { code, message, details } }
  }
}
