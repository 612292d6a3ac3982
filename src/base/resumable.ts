/** The agents whose sessions `tracebook resume` writes anew, each for each of them: their `agentId`. */
export const RESUMABLE = ['claude-code', 'codex'] as const
export type Resumable = (typeof RESUMABLE)[number]

export const isResumable = (agentId: string): agentId is Resumable => (RESUMABLE as readonly string[]).includes(agentId)
