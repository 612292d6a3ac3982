import type { Agent, StoredSession } from '../agents/agent.ts'
import type { RedactionOptions } from '../redaction/session.ts'

/** The stamp of a session as its agent reads it now. */
export const readStamp = ({ id, version }: Agent, { stamp }: StoredSession): string => `${id}/${version} ${stamp}`

/** The same, and as secrets are taken out of it. */
export const stampOf = (
  agent: Agent,
  session: StoredSession,
  redaction: Pick<RedactionOptions, 'version'> | undefined,
): string => `${readStamp(agent, session)}${redaction?.version ?? ''}`
