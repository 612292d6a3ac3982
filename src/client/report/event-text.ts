import { LISTED_TITLE, truncateLine } from '../../base/texts.ts'
import { namespaceLink, traceLink } from '../api/trace-link.ts'
import type { SessionEvent, Summary, SyncEvent } from './events.ts'
import { countOf, leftOutText, summaryText, tallyText } from './text.ts'

/** The lines about an event for people: `results` go to stdout, `notices` to stderr. */
type EventText = { readonly results?: readonly string[]; readonly notices?: readonly string[] }

export type TextOptions = {
  readonly dryRun: boolean
  /** Whether each session that was sent has a line. In a dry run each has one. */
  readonly namesSessions: boolean
}

type Problem = Extract<SyncEvent, { readonly type: 'problem' }>

/** How many skipped lines, and how many left-out messages, are printed; the rest is printed as a number. */
const MOST_SHOWN = 3

/** A session by its title, as people know it; one without a title by its id, else by its file. */
const nameOf = ({ title, externalId, file }: Pick<SessionEvent, 'title' | 'externalId' | 'file'>): string =>
  title === undefined ? (externalId ?? file) : `"${truncateLine(title, LISTED_TITLE)}"`

/** The text of a problem, with the path if the reader has to look into the file. */
export const problemText = ({ kind, file, line, title, message }: Problem): string => {
  if (line !== undefined) return `${file}:${line}: ${message}`
  return `${kind === 'secret_in_history' || title === undefined ? file : nameOf({ title, file })}: ${message}`
}

/** The printed problems, and the number of others. */
const newProblems = () => {
  const counts = { line_skipped: 0, message_left_out: 0 }
  const kinds = new Set<string>()
  let parts = 0
  const isShown = ({ kind, ...problem }: Problem): boolean => {
    if (kind === 'line_skipped' || kind === 'message_left_out') return ++counts[kind] <= MOST_SHOWN
    if (kind !== 'kinds_left_out') return true
    // Said once, for all sessions.
    parts += problem.parts ?? 0
    for (const one of problem.kinds ?? []) kinds.add(one)
    return false
  }
  const more = (): readonly string[] => {
    const [lines, messages] = [counts.line_skipped - MOST_SHOWN, counts.message_left_out - MOST_SHOWN]
    const rest = [
      ...(lines > 0 ? [`${countOf(lines, 'more line')} skipped`] : []),
      ...(messages > 0 ? [`${countOf(messages, 'more message')} left out`] : []),
    ]
    return [
      ...rest.map((text) => `... and ${text}; --json names each`),
      ...(parts > 0 ? [leftOutText(parts, [...kinds])] : []),
    ]
  }
  return { isShown, more }
}

/** `"Add a parser test" (project app): 4 messages (4 new) to namespace ada, private`. */
const plannedText = (session: SessionEvent): string => {
  const { project, messages, namespace, visibility } = session
  const of = project === undefined ? '' : ` (project ${project})`
  const what = messages > 0 ? tallyText(session) : 'only its trace'
  const to = namespace === undefined ? '' : ` to namespace ${namespace}`
  return `${nameOf(session)}${of}: ${what}${to}${visibility === undefined ? '' : `, ${visibility}`}`
}

const sentText = (session: SessionEvent): string =>
  `${nameOf(session)}: ${session.messages > 0 ? tallyText(session) : 'trace updated'}`

/** What has become public, with the address of each. */
const publishedText = (published: readonly SessionEvent[], server: string, dryRun: boolean): readonly string[] => {
  if (published.length === 0) return []
  const what = countOf(published.length, 'session')
  const head = dryRun ? `${what} would become public:` : `${what} became public, for everyone to read:`
  const links = published.map(
    (session) => `  ${nameOf(session)}  ${traceLink(server, session.namespace ?? '', session.externalId ?? '')}`,
  )
  return [head, ...links]
}

/** Returns the text for each event of one run, which are passed in order. */
export const newEventText = ({ namesSessions, dryRun }: TextOptions) => {
  const problems = newProblems()
  const published: SessionEvent[] = []
  /** The pages of the namespaces that got sessions. */
  const pages = new Set<string>()
  let server = ''

  const ofSession = (session: SessionEvent): EventText => {
    if (session.published) published.push(session)
    if (session.status !== 'synced') return {}
    if (dryRun) return { results: [plannedText(session)] }
    if (session.namespace !== undefined) pages.add(namespaceLink(server, session.namespace))
    return namesSessions ? { results: [sentText(session)] } : {}
  }
  const ofSummary = (summary: Summary): EventText => ({
    notices: [...problems.more(), ...(summary.stopped === undefined ? [] : [`stopped early: ${summary.stopped}`])],
    results: [
      ...publishedText(published, server, dryRun),
      ...[...pages].map((page) => `read them at ${page}`),
      summaryText(summary),
    ],
  })

  return (event: SyncEvent): EventText => {
    switch (event.type) {
      case 'start':
        server = event.server
        return {}
      case 'progress':
      case 'asking':
      case 'redaction': // a notice sums them up
        return {}
      case 'connection':
      case 'stopping':
      case 'left_out':
        return { notices: [event.message] }
      case 'problem':
        return problems.isShown(event) ? { notices: [problemText(event)] } : {}
      case 'not_sent':
        return { notices: [`${countOf(event.sessions, 'session')} not sent: ${event.why}`] }
      case 'notice':
        return { notices: [`${event.title === undefined ? event.file : nameOf(event)}: ${event.message}`] }
      case 'session':
        return ofSession(event)
      case 'summary':
        return ofSummary(event)
    }
  }
}
