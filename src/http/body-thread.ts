import { availableParallelism } from 'node:os'
import { Tinypool } from 'tinypool'
import { Unavailable } from '../engine/rejected.ts'
import { type BodyBytes, wholeOf } from './body-bytes.ts'
import { HttpError } from './http-error.ts'
import type { TaskInput, TaskResult } from './task-result.ts'

const IDLE_MS = 60_000
const LONGEST_MS = 30_000
/** Below this a body is read sooner than it is handed to a thread. */
const LARGE_BYTES = 16 * 1024

/** One way to read a body, which may run in two places. */
export type Task<T> = {
  /** Reads a body that is small. @throws HttpError */
  readonly here: (body: Uint8Array) => T
  /** A module whose export of this name takes a `TaskInput` and gives a `TaskResult` of the same. */
  readonly module: URL
  readonly name: string
  /** What that one gets besides the bytes. */
  readonly more?: object
}

/**
 * Threads that read large bodies: some take a second, and the event loop that answers everybody else shall not wait. What
 * a task gives back should be flat, for it is copied: texts rather than objects.
 */
export type BodyThreads = {
  /**
   * Reads a body, on a thread if it is large; its bytes are taken away from the caller.
   * @throws HttpError what the task refuses
   * @throws Unavailable when there is no thread, or it takes too long
   */
  read<T>(task: Task<T>, bytes: BodyBytes): Promise<T>
  close(): Promise<void>
}

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

  const onThread = <T>({ module, name, more }: Task<T>, { pieces }: BodyBytes): Promise<TaskResult<T>> => {
    const input: TaskInput = { ...more, pieces }
    const transferList = pieces.map(({ buffer }) => buffer) as never // its type follows the wrong overload of Node's
    const signal = AbortSignal.timeout(LONGEST_MS)
    return pool.run(input, { filename: module.href, name, transferList, signal }).catch((error: unknown) => {
      throw new Unavailable('the body could not be read', false, error)
    })
  }

  const read = async <T>(task: Task<T>, bytes: BodyBytes): Promise<T> => {
    if (bytes.length < LARGE_BYTES) return task.here(wholeOf(bytes))
    const result = await onThread(task, bytes)
    if ('value' in result) return result.value
    const { code, message, details } = result.refused
    throw new HttpError(code, message, details)
  }

  return { read, close: () => pool.destroy() }
}
