import { existsSync } from 'node:fs'
import { errorMessage } from '../cli/exit.ts'
import type { Agent, StoredSession } from './agents/agent.ts'
import { filesOf, findSessionFiles, type Linked, type SearchedHome, type SessionFile } from './agents/session-files.ts'
import type { RedactionOptions } from './redaction/session.ts'
import type { SessionStates } from './state/session-states.ts'
import { isUnchanged } from './upload/read-session.ts'

/** Sessions that were never sent, those that may have changed since, and the others. */
export type Changes = { new: number; changed: number; unchanged: number }

/** How many sessions rules keep from being sent to the namespace of the login, for one reason. */
export type Ruled = {
  /** `held` are those to which the user has to agree; `failed` those whose rules cannot be used. */
  readonly status: 'excluded' | 'held' | 'elsewhere' | 'failed'
  readonly why: string
  readonly sessions: number
}

/** What one agent keeps on this machine. `changes` is undefined if it is not known what was sent. */
export type AgentOverview = {
  readonly agent: Pick<Agent, 'id' | 'name'>
  readonly places: readonly { readonly path: string; readonly exists: boolean }[]
  readonly files: number
  readonly sessions: number
  readonly changes: Changes | undefined
  /** Sessions that are not among `changes`. */
  readonly ruled: readonly Ruled[]
  readonly expiring: Expiring
  /** Linked folders and session files at its places, which are not searched. */
  readonly linked: readonly Linked[]
}

/** How many sessions their agent deletes within a week. `unsent` of them still have to be sent, or sent again as they are now. */
type Expiring = { readonly sessions: number; readonly unsent: number | undefined }

/** What was sent from this machine, how secrets would be taken out now, and what rules say of a session. */
export type Sent = {
  readonly states: SessionStates
  readonly redaction: RedactionOptions
  readonly ruleFor: (session: Pick<StoredSession, 'source' | 'files'>) => Promise<Omit<Ruled, 'sessions'> | undefined>
}

/** Called for each folder, file or database that cannot be read. */
type ReportUnreadable = (path: string, message: string) => void

/** `now` is in milliseconds. */
type Searched = SearchedHome & { readonly now?: number }

type Job = {
  readonly searched: Searched
  readonly sent: Sent | undefined
  readonly unreadable: ReportUnreadable
}

const changeOf = (agent: Agent, session: StoredSession, { states, redaction }: Sent): keyof Changes => {
  const stored = states.read(session.source)
  if (!stored) return 'new'
  return isUnchanged(session, stored, { agent, redaction }) ? 'unchanged' : 'changed'
}

const newRuled = () => {
  const found = new Map<string, Ruled>()
  return {
    add: ({ status, why }: Omit<Ruled, 'sessions'>) => {
      const key = `${status} ${why}`
      found.set(key, { status, why, sessions: (found.get(key)?.sessions ?? 0) + 1 })
    },
    all: () => [...found.values()],
  }
}

const DAY = 24 * 60 * 60_000
const SOON = 7 * DAY

/** Whether the agent deletes a session within a week. */
const expiryOf = async ({ keptDays }: Agent, { env, home, now = Date.now() }: Searched) => {
  const daysOf = await keptDays?.(env, home)
  return ({ source, writtenAt }: StoredSession): boolean => {
    const days = daysOf?.(source)
    return days !== undefined && writtenAt !== undefined && writtenAt + days * DAY < now + SOON
  }
}

/** Whether a session still has to be sent: not if rules exclude it or send it elsewhere. */
const isWaiting = (is: keyof Changes | Ruled['status']): boolean =>
  is === 'new' || is === 'changed' || is === 'held' || is === 'failed'

/** Counts the sessions of an agent's files, without reading them. */
const countSessions = async (
  agent: Agent,
  files: readonly SessionFile[],
  { searched, sent, unreadable }: Job,
): Promise<Pick<AgentOverview, 'sessions' | 'changes' | 'ruled' | 'expiring'>> => {
  const ruled = newRuled()
  const changes: Changes = { new: 0, changed: 0, unchanged: 0 }
  const isExpiring = await expiryOf(agent, searched)
  let [sessions, expiring, unsent] = [0, 0, 0]
  const count = async (session: StoredSession) => {
    sessions++
    const rule = await sent?.ruleFor(session)
    const change = sent && !rule ? changeOf(agent, session, sent) : undefined
    if (rule) ruled.add(rule)
    if (change) changes[change]++
    if (!isExpiring(session)) return
    expiring++
    const is = rule?.status ?? change
    if (is && isWaiting(is)) unsent++
  }
  for (const { path, others } of files)
    try {
      for await (const session of agent.sessions(path, others)) await count(session)
    } catch (error) {
      unreadable(path, errorMessage(error))
    }
  const counts = { sessions, changes: sent && changes, ruled: ruled.all() }
  return { ...counts, expiring: { sessions: expiring, unsent: sent && unsent } }
}

/** What each agent keeps at its default places, by the agents' names. Nothing is sent, and no session is read. */
export async function* overviewOf(
  agents: readonly Agent[],
  searched: Searched,
  sent: Sent | undefined,
  unreadable: ReportUnreadable,
): AsyncGenerator<AgentOverview> {
  const links: { readonly link: Linked; readonly agent: Agent | undefined }[] = []
  const all = await findSessionFiles(agents, [], searched, unreadable, {
    onLink: (link, agent) => links.push({ link, agent }),
  })
  for (const agent of agents.toSorted((a, b) => a.name.localeCompare(b.name))) {
    const roots = agent.roots(searched.env, searched.home)
    const places = roots.map((path) => ({ path, exists: existsSync(path) }))
    const files = all.filter((file) => file.agent === agent)
    const linked = links.filter((one) => one.agent === agent).map(({ link }) => link)
    yield {
      agent,
      places,
      files: files.flatMap(filesOf).length,
      linked,
      ...(await countSessions(agent, files, { searched, sent, unreadable })),
    }
  }
}
