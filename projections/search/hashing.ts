import { Tinypool } from 'tinypool'
import { moduleUrl } from '../../src/base/threads.ts'
import { newYielding } from '../../src/base/yielding.ts'
import type { MessageRow } from '../../src/server/trace/tokens/stored-rows.ts'
import { type Hasher, hashesInSteps, newHasher } from './hash-messages.ts'
import type { HashTask } from './hash-task.ts'

const IDLE_MS = 10_000
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

/** Aborts the tasks that wait for a thread which cannot start: they would wait for ever. */
let cannotStart = new AbortController()

pool.on('error', () => {
  cannotStart.abort()
  cannotStart = new AbortController()
})

const lengthOf = ({ text_content, parts }: MessageRow): number => (text_content?.length ?? 0) + (parts?.length ?? 0)

/** On the event loop, where other work has turns between two texts. */
const onLoop = async (hasher: Hasher, rows: readonly MessageRow[]): Promise<Int32Array[]> => {
  const turn = newYielding()
  const steps = hashesInSteps(hasher, rows)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    await turn()
  }
}

/**
 * Makes the hashes of the words and values of each message, in order; on a thread, unless they are short, or there is none. A thread that is
 * late is waited for: the machine is busy, and the event loop has even less time than the thread.
 */
export type HashMessages = (rows: readonly MessageRow[]) => Promise<readonly Int32Array[]>

export const newHashMessages = (key: Uint8Array): HashMessages => {
  const hasher = newHasher(key)
  return async (rows) => {
    const length = rows.reduce((sum, row) => sum + lengthOf(row), 0)
    if (length < FEW) return onLoop(hasher, rows)
    const task: HashTask = { key, rows }
    const onThread = pool.run(task, { name: 'hashMessages', signal: cannotStart.signal }) as Promise<Int32Array[]>
    return onThread.catch(() => onLoop(hasher, rows))
  }
}
