import { availableParallelism } from 'node:os'
import { Tinypool } from 'tinypool'
import { currentClient, withPermit } from '../../base/current-client.ts'
import { newPermits } from '../../base/permits.ts'
import { Unavailable } from '../../eventstore/engine/rejected.ts'
import { type BodyBytes, wholeOf } from './body-bytes.ts'
import { HttpError } from './http-error.ts'
import { bodyText } from './json-body.ts'
import type { TaskInput, TaskResult } from './body-tasks.ts'

const IDLE_MS = 60_000
const TIMEOUT_MS = 30_000
/** Smaller bodies are read faster than they are transferred to a thread. */
const LARGE_BYTES = 16 * 1024

/** A way to read a body, on the event loop or on a thread. */
export type Task<T> = {
  /** Reads the text of a small body on the event loop. @throws HttpError */
  readonly here: (text: string) => T
  /** The module that exports, as `name`, a function from `TaskInput` to the same value as a `TaskResult`. */
  readonly module: URL
  readonly name: string
  /** Other members of its `TaskInput`. */
  readonly more?: object
}

/**
 * Threads that parse large bodies, because some take a second, which would block the event loop. Results are copied between
 * threads, so they should be flat: texts rather than objects.
 */
export type BodyThreads = {
  /**
   * Reads a body, on a thread if it is large; then its bytes are transferred, and cannot be used afterwards.
   * Clients take turns. @throws HttpError from the task; Unavailable if no thread can start, or reading takes more than 30 seconds
   */
  read<T>(task: Task<T>, bytes: BodyBytes): Promise<T>
  close(): Promise<void>
}

/** `onError` is called if a thread cannot start, or ends by itself. */
export const newBodyThreads = (onError: (error: Error) => void): BodyThreads => {
  const maxThreads = Math.max(1, Math.min(4, availableParallelism() - 1))
  const pool = new Tinypool({
    filename: import.meta.filename, // the pool needs a default; each task names its own module
    minThreads: 0,
    maxThreads,
    idleTimeout: IDLE_MS,
    // With 8 MB for new objects, a third of those for a body of 300 kB would move to the old generation, which takes 15 % of the thread's time.
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 24 },
  })
  pool.on('error', onError)
  const permits = newPermits({
    capacity: maxThreads,
    things: 'bodies being parsed',
    graceTicks: 0,
    waitTicks: Infinity,
  })

  const onThread = <T>({ module, name, more }: Task<T>, { pieces }: BodyBytes): Promise<TaskResult<T>> => {
    const input: TaskInput = { ...more, pieces }
    const transferList = pieces.map(({ buffer }) => buffer) as never // its type follows the wrong overload of Node's
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const run = () => pool.run(input, { filename: module.href, name, transferList, signal }) as Promise<TaskResult<T>>
    return withPermit(permits, currentClient(), run, signal).catch((error: unknown) => {
      throw new Unavailable('the body could not be read', false, error)
    })
  }

  const read = async <T>(task: Task<T>, bytes: BodyBytes): Promise<T> => {
    if (bytes.length < LARGE_BYTES) return task.here(bodyText(wholeOf(bytes)))
    const result = await onThread(task, bytes)
    if ('value' in result) return result.value
    const { code, message, details } = result.refused
    throw new HttpError(code, message, details)
  }

  return { read, close: () => pool.destroy() }
}
