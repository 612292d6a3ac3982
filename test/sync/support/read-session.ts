import { statSync } from 'node:fs'
import type { SessionFile, SessionMessage } from '../../../src/sync/agents/agent.ts'
import { claudeCode } from '../../../src/sync/agents/claude-code/index.ts'

type Read = {
  readonly session: SessionFile
  readonly messages: readonly SessionMessage[]
  readonly malformed: readonly number[]
}

/** A whole session file, its messages by their order. */
export const readSession = async (path: string): Promise<Read> => {
  const malformed: number[] = []
  const session = await claudeCode.readSession(path, {
    size: statSync(path).size,
    onMalformed: (line) => malformed.push(line),
  })
  const messages = await Array.fromAsync(session.messages())
  return { session, messages: messages.sort((a, b) => a.order - b.order), malformed }
}
