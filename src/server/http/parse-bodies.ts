import { availableParallelism } from 'node:os'
import { Tinypool } from 'tinypool'
import { currentClient, withPermit } from '../../base/current-client.ts'
import { newPermits } from '../../base/permits.ts'
import { moduleUrl } from '../../base/threads.ts'
import { Unavailable } from '../../eventstore/engine/rejected.ts'
import { type BodyBytes, wholeOf } from './body-bytes.ts'
import { HttpError } from './http-error.ts'
import { type BodyReader, bodyText, parseBody } from './json-body.ts'
import type { TaskInput, TaskResult } from './body-tasks.ts'

const IDLE_MS = 60_000
const TIMEOUT_MS = 30_000
/** Smaller bodies are read faster than they are transferred to a thread. */
const LARGE_BYTES = 16 * 1024

/**
 * Threads that parse large bodies, because some take a second, which would block the event loop. Results are copied between
 * threads, so they should be flat: texts rather than objects.
 */
export type BodyThreads = {
  /**
   * Reads a body, on a thread if it is large; then its bytes are transferred, and cannot be used afterwards.
   * Clients take turns. @throws HttpError from the reader; Unavailable if no thread can start, or reading takes more than 30 seconds
   */
  read<T>(reader: BodyReader<T>, bytes: BodyBytes): Promise<T>
  close(): Promise<void>
}

/** `onError` is called if a thread cannot start, or ends by itself. */
export const newBodyThreads = (onError: (error: Error) => void): BodyThreads => {
  const maxThreads = Math.max(1, Math.min(4, availableParallelism() - 1))
  const pool = new Tinypool({
    filename: moduleUrl('./body-tasks', import.meta.url).href,
    name: 'read',
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

  const onThread = <T>(
    { read: _, module, ...reader }: BodyReader<T>,
    { pieces }: BodyBytes,
  ): Promise<TaskResult<T>> => {
    const input: TaskInput = { ...reader, module: module.href, pieces }
    const transferList = pieces.map(({ buffer }) => buffer) as never // its type follows the wrong overload of Node's
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const run = () => pool.run(input, { transferList, signal }) as Promise<TaskResult<T>>
    return withPermit(permits, currentClient(), run, signal).catch((error: unknown) => {
      throw new Unavailable('the body could not be read', false, error)
    })
  }

  const read = async <T>(reader: BodyReader<T>, bytes: BodyBytes): Promise<T> => {
    if (bytes.length < LARGE_BYTES)
      return reader.read(parseBody(bodyText(wholeOf(bytes)), reader.isExact), reader.names ?? [])
    const result = await onThread(reader, bytes)
    if ('value' in result) return result.value
    const { code, message, details } = result.refused
    throw new HttpError(code, message, details)
  }

  return { read, close: () => pool.destroy() }
}
