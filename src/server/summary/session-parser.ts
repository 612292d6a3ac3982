import { Tinypool } from 'tinypool'
import { moduleUrl } from '../../base/threads.ts'
import type { Summary } from './provider.ts'
import type { PromptTask } from './session-parser-tasks.ts'
import type { Conversation, StoredTurn } from './turns.ts'

const IDLE_MS = 10_000
const TASK_TIMEOUT_MS = 30_000

/** A thread that parses sessions, because a hundred long prompts would block the event loop. Ends after ten seconds without a task. */
export type SessionParser = {
  /** See `extractSummary`. */
  extract(conversation: Conversation<StoredTurn>, signal: AbortSignal): Promise<Summary>
  /** See `buildPrompt`. */
  buildPrompt(conversation: Conversation<StoredTurn>, maxChars: number, signal: AbortSignal): Promise<string>
  close(): Promise<void>
}

/** `onError` is called if a thread cannot start, or ends by itself. */
export const newSessionParser = (onError: (error: Error) => void): SessionParser => {
  const filename = moduleUrl('./session-parser-tasks', import.meta.url).href
  const pool = new Tinypool({ filename, minThreads: 0, maxThreads: 1, idleTimeout: IDLE_MS })
  // The task of such a thread does not fail, but ends with its timeout.
  pool.on('error', onError)
  const orTimeout = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(TASK_TIMEOUT_MS)])
  return {
    extract: (conversation, signal) => pool.run(conversation, { name: 'runExtract', signal: orTimeout(signal) }),
    buildPrompt: (conversation, maxChars, signal) => {
      const task: PromptTask = { conversation, maxChars }
      return pool.run(task, { name: 'runPrompt', signal: orTimeout(signal) })
    },
    close: () => pool.destroy(),
  }
}
