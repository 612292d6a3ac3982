import { lowerThreadPriority } from '../../base/threads.ts'
import { type BodyReader, bodyText, parseBody } from './json-body.ts'
import { type BodyBytes, consume } from './body-bytes.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import { HttpError } from './http-error.ts'

/** The result of a reader on a thread. Errors lose their class between threads, so an HttpError is returned as data. */
export type TaskResult<T> =
  | { readonly value: T }
  | { readonly refused: { readonly code: ErrorCode; readonly message: string; readonly details: unknown } }

/** A body for a reader, which is named by the address of its module. */
export type TaskInput = Pick<BodyBytes, 'pieces'> &
  Pick<BodyReader<unknown>, 'name' | 'names' | 'isExact'> & { readonly module: string }

lowerThreadPriority()

/** The task of the threads of `parse-bodies.ts`, which calls it by name. The bytes are freed before the text is read. */
export const read = async ({
  module,
  name,
  names = [],
  isExact,
  ...bytes
}: TaskInput): Promise<TaskResult<unknown>> => {
  const readers = (await import(module)) as Readonly<Record<string, BodyReader<unknown>['read']>>
  try {
    return { value: readers[name]!(parseBody(consume(bytes, bodyText), isExact), names) }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    const { code, message, details } = error
    return { refused: { code, message, details } }
  }
}
