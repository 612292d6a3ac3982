import { availableParallelism } from 'node:os'
import { Tinypool } from 'tinypool'
import { Unavailable } from '../engine/rejected.ts'
import type { BodyBytes } from './body-bytes.ts'
import { type Code, HttpError } from './http-error.ts'

const IDLE_MS = 60_000
const LONGEST_MS = 30_000
/** Below this a body is read sooner than it is handed to a thread. */
const LARGE_BYTES = 16 * 1024

/** What reading a body came to. An error that is handed from one thread to another is no HttpError any more. */
export type Outcome<T> =
  | { readonly value: T }
  | { readonly refused: { readonly code: Code; readonly message: string; readonly details: unknown } }

/** What `read` gives or refuses, as it can be handed to another thread. */
export const outcomeOf = <T>(read: () => T): Outcome<T> => {
  try {
    return { value: read() }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    const { code, message, details } = error
    return { refused: { code, message, details } }
  }
}

/** A function that a module exports under this name; it gives an `Outcome`. */
export type Task = { readonly module: URL; readonly name: string }

/**
 * Threads that read large bodies: some take a second, and the event loop that answers everybody else shall not wait. What
 * a task gives back should be flat, for it is copied: texts rather than objects.
 */
export type BodyThreads = {
  /** Whether a body is to be read here. */
  isLarge(bytes: BodyBytes): boolean
  /**
   * Takes the bytes away from the caller.
   * @throws HttpError what the task refuses
   * @throws Unavailable when there is no thread, or it takes too long
   */
  read<T>(task: Task, bytes: BodyBytes, more?: object): Promise<T>
  close(): Promise<void>
}

/** What a task gets. */
export type Input<More extends object = object> = More & Pick<BodyBytes, 'pieces'>

export const newBodyThreads = (failed: (error: Error) => void): BodyThreads => {
  const maxThreads = Math.max(1, Math.min(4, availableParallelism() - 1))
  const pool = new Tinypool({
    filename: import.meta.filename, // no task of ours: each names its module
    minThreads: 0,
    maxThreads,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 },
  })
  pool.on('error', failed)
  const run = <T>({ module, name }: Task, input: Input): Promise<Outcome<T>> =>
    pool
      .run(input, {
        filename: module.href,
        name,
        transferList: input.pieces.map(({ buffer }) => buffer) as never, // its type follows the wrong overload of Node's
        signal: AbortSignal.timeout(LONGEST_MS),
      })
      .catch((error: unknown) => {
        throw new Unavailable('the body could not be read', false, error)
      })
  return {
    isLarge: ({ length }) => length >= LARGE_BYTES,
    read: async <T>(task: Task, { pieces }: BodyBytes, more?: object) => {
      const outcome = await run<T>(task, { ...more, pieces })
      if ('value' in outcome) return outcome.value
      const { code, message, details } = outcome.refused
      throw new HttpError(code, message, details)
    },
    close: () => pool.destroy(),
  }
}
