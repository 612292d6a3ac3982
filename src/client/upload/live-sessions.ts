import type { LiveReading } from '../agents/agent.ts'
import type { KnownSecrets } from '../redaction/session.ts'
import type { SessionStates } from '../state/session-states.ts'

/** How a reading ended of which all was sent to `states`: the state of the parser, and the secrets. They are nowhere but in memory. */
export type LiveSession = {
  readonly reading: LiveReading
  readonly states: SessionStates
  /** Undefined if secrets are not taken out. */
  readonly known: KnownSecrets | undefined
}

/** The sessions that a watch has read last, by their sources. */
export type LiveSessions = {
  /** Removes it, because it can be gone on with once. */
  readonly take: (source: string) => LiveSession | undefined
  readonly keep: (source: string, live: LiveSession) => void
}

/** An agent writes to a few sessions at a time. */
const SESSIONS = 50

export const newLiveSessions = (most = SESSIONS): LiveSessions => {
  const sessions = new Map<string, LiveSession>()
  return {
    take: (source) => {
      const found = sessions.get(source)
      sessions.delete(source)
      return found
    },
    keep: (source, live) => {
      sessions.delete(source)
      sessions.set(source, live)
      if (sessions.size > most) sessions.delete(sessions.keys().next().value!)
    },
  }
}
