import type { Part } from '../agent.ts'
import { blocksOf } from '../support/content-blocks.ts'
import { type Json, textOf } from '../support/json.ts'
import { textPart } from '../support/parts.ts'
import { blockText } from './content.ts'

/** The sessions of other agents, by the agents' paths, such as `/root/review`. */
export type AgentSessions = ReadonlyMap<string, string>

/** The sessions that are known after one more event. */
export const withAgent = (known: AgentSessions, { type, agent_path, agent_thread_id }: Json): AgentSessions => {
  const [path, session] = [textOf(agent_path), textOf(agent_thread_id)]
  if (type !== 'sub_agent_activity' || path === undefined || session === undefined) return known
  return known.get(path) === session ? known : new Map([...known, [path, session]])
}

/** The text of what one agent tells another one, under a line that names both, and their sessions (README, rule 8). */
export const agentMessageParts = (payload: Json, sessions: AgentSessions): readonly Part[] => {
  const named = (agent: unknown): string => {
    const name = textOf(agent) ?? 'an agent'
    const session = sessions.get(name)
    return session === undefined ? name : `${name} (session ${session})`
  }
  const texts = blocksOf(payload['content']).flatMap((block) => blockText(block) ?? [])
  if (texts.length === 0) return []
  return textPart(`${named(payload['author'])} to ${named(payload['recipient'])}:\n${texts.join('\n')}`)
}
