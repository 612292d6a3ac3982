import { Tinypool } from 'tinypool'
import { moduleUrl } from '../../src/base/threads.ts'
import type { MessageRow } from '../../src/trace/tokens/stored-rows.ts'
import { hashesOfMessages, newHasher } from './hash-messages.ts'
import type { HashTask } from './hash-task.ts'

const IDLE_MS = 10_000
/** A thread that cannot start, or has ended, leaves its task without an answer. */
const TIMEOUT_MS = 60_000
/** Below this number of characters, hashing takes less time than sending them to the thread. */
const FEW = 16 * 1024

/** A thread of this process, which ends after ten seconds without a task: all words of a large message take up to a second. */
const pool = new Tinypool({
  filename: moduleUrl('./hash-task', import.meta.url).href,
  minThreads: 0,
  maxThreads: 1,
  idleTimeout: IDLE_MS,
  resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 },
})

pool.on('error', () => {}) // its task ends with the timeout

const lengthOf = ({ text_content, parts }: MessageRow): number => (text_content?.length ?? 0) + (parts?.length ?? 0)

/** Makes the hashes of the words and values of each message, in order; on a thread, unless they are short, or there is none. */
export type HashMessages = (rows: readonly MessageRow[]) => Promise<readonly Int32Array[]>

export const newHashMessages = (key: Uint8Array): HashMessages => {
  const hasher = newHasher(key)
  return async (rows) => {
    const length = rows.reduce((sum, row) => sum + lengthOf(row), 0)
    if (length < FEW) return hashesOfMessages(hasher, rows)
    const task: HashTask = { key, rows }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const onThread = pool.run(task, { name: 'hashMessages', signal }) as Promise<Int32Array[]>
    return onThread.catch(() => hashesOfMessages(hasher, rows))
  }
}
