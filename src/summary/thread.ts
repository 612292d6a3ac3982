import { Tinypool } from 'tinypool'
import type { Summary } from './provider.ts'
import type { PromptTask } from './thread-worker.ts'
import type { Conversation, StoredTurn } from './turns.ts'

const IDLE_MS = 10_000
const LONGEST_MS = 30_000

/**
 * A thread that reads sessions: a hundred long prompts take a while, and the event loop that answers HTTP shall not wait.
 * It is there while it is needed.
 */
export type Thread = {
  /** A summary of the session's own words. */
  extract(conversation: Conversation<StoredTurn>, signal: AbortSignal): Promise<Summary>
  /** The session in at most so many characters, to be shown to a model. */
  prompt(conversation: Conversation<StoredTurn>, maxChars: number, signal: AbortSignal): Promise<string>
  close(): Promise<void>
}

/** `failed` is told of a thread that could not begin, or died by itself. */
export const newThread = (failed: (error: Error) => void): Thread => {
  const filename = new URL('./thread-worker.ts', import.meta.url).href
  const pool = new Tinypool({ filename, minThreads: 0, maxThreads: 1, idleTimeout: IDLE_MS })
  // Its task, if there is one, is not told: it ends when its time is over.
  pool.on('error', failed)
  const inTime = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)])
  return {
    extract: (conversation, signal) => pool.run(conversation, { name: 'extracted', signal: inTime(signal) }),
    prompt: (conversation, maxChars, signal) => {
      const task: PromptTask = { conversation, maxChars }
      return pool.run(task, { name: 'prompted', signal: inTime(signal) })
    },
    close: () => pool.destroy(),
  }
}
