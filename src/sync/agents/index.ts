import type { Agent } from './agent.ts'
import { claudeCode } from './claude-code/index.ts'

/** The agents whose sessions are uploaded. */
export const agents: readonly Agent[] = [claudeCode]

/** The agent whose parser reads a file: the first one that takes its path for a session file, else the first of all. */
export const agentOf = (agents: readonly Agent[], path: string): Agent =>
  agents.find(({ isSessionFile }) => isSessionFile(path)) ?? agents[0]!
