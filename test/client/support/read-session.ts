import type { Agent, Session, SessionMessage } from '../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'

type Read = {
  readonly session: Session
  readonly messages: readonly SessionMessage[]
  readonly malformed: readonly number[]
}

/** All sessions of a file, each with its messages by their order. */
export const readSessions = async (path: string, agent: Agent): Promise<readonly Read[]> => {
  const all: Read[] = []
  for await (const stored of agent.sessions(path)) {
    const malformed: number[] = []
    const session = await stored.read({ onMalformed: (line) => malformed.push(line) })
    const messages = await Array.fromAsync(session.messages())
    all.push({ session, messages: messages.sort((a, b) => a.order - b.order), malformed })
  }
  return all
}

/** The only session of a file, with its messages by their order. */
export const readSession = async (path: string, agent: Agent = claudeCode): Promise<Read> => {
  const [session, ...more] = await readSessions(path, agent)
  if (!session || more.length > 0) throw new Error(`${path} does not hold exactly one session`)
  return session
}
