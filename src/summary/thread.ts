import { Tinypool } from 'tinypool'
import type { Summary } from './provider.ts'
import type { PromptTask } from './thread-tasks.ts'
import type { Conversation, StoredTurn } from './turns.ts'

const IDLE_MS = 10_000

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

export const newThread = (): Thread => {
  const filename = new URL('./thread-tasks.ts', import.meta.url).href
  const pool = new Tinypool({ filename, minThreads: 0, maxThreads: 1, idleTimeout: IDLE_MS })
  return {
    extract: (conversation, signal) => pool.run(conversation, { name: 'extracted', signal }),
    prompt: (conversation, maxChars, signal) => {
      const task: PromptTask = { conversation, maxChars }
      return pool.run(task, { name: 'prompted', signal })
    },
    close: () => pool.destroy(),
  }
}
