import { type CheckedEvent, type ShownEvent, isShown } from './check-event.ts'
import type { CheckedEvidence, CheckedSession } from './check.ts'

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

const timeText = (ms: number): string => {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString()
}

const byText = ({ by }: ShownEvent): string => (by === undefined ? 'by the service itself' : `by user ${by}`)

const ofCheckpoint = ({ origin, size, key, isKnownKey }: CheckedEvidence): string[] => [
  `This is evidence from the log ${origin}, as it was when it had ${counted(size, 'event')}.`,
  '1. Its checkpoint is signed with the key',
  `     ${key}`,
  isKnownKey
    ? '   which is the one that you gave.'
    : '   which came with the file. All that follows holds only if that is the key of the log: give the key that you know with --key.',
]

const ofEvents = (events: readonly CheckedEvent[]): string[] => {
  const shown = events.filter(isShown)
  const withheld = events.length - shown.length
  const [first, last] = [Math.min(...shown.map(({ at }) => at)), Math.max(...shown.map(({ at }) => at))]
  const times = shown.length === 0 ? '' : `, from ${timeText(first)} to ${timeText(last)} by the clock of the service`
  return [
    `2. ${counted(events.length, 'event')} of the file ${events.length === 1 ? 'is' : 'are'} in the log, in this order, unchanged since then.`,
    ...(withheld > 0 ? [`   ${withheld} of them are withheld: the file has their hashes only.`] : []),
    `3. ${shown.length} can be read${times}; no stream goes back in time.`,
  ]
}

const whatBegan = ({ type, movedFrom }: ShownEvent): string => {
  if (type === 'TraceCreated') return 'created'
  return movedFrom === undefined ? 'its past was erased' : `moved there from ${movedFrom}`
}

const begun = ({ begins }: CheckedSession): string => {
  if (!begins) return 'its first event is withheld'
  return `${whatBegan(begins)} ${timeText(begins.at)} ${byText(begins)}`
}

const ofSession = (session: CheckedSession): string => {
  const { namespace, externalId, agentId, isErased } = session
  return `     ${namespace}/${externalId} (${agentId}): ${begun(session)}${isErased ? '; deleted since' : ''}`
}

const ofSessions = ({ sessions }: CheckedEvidence): string[] => [
  sessions.length === 0
    ? '4. The file has no session.'
    : `4. ${counted(sessions.length, 'session')}; the names of their namespaces and agents are what the maker of the file says:`,
  ...sessions.map(ofSession),
]

const ofLines = ({ commits, lines: { checked, of } }: CheckedEvidence, hasRepository: boolean): string[] => {
  if (commits.length === 0) return ['5. The file has no commit.']
  const named = `${counted(of, 'line')} of ${counted(commits.length, 'commit')}`
  if (!hasRepository) return [`5. The file names ${named}, which were not checked: give the repository with --repo.`]
  const rest = checked < of ? `; the events that may have the other ${of - checked} are withheld` : ''
  return [
    `5. The file names ${named}, not counting lines that say too little. The text of ${checked} was recorded in these sessions before the checkpoint${rest}.`,
  ]
}

const ofPrevious = ({ previous, size }: CheckedEvidence): string[] =>
  previous
    ? [`6. The log has continued the checkpoint that it had signed at ${previous.size} of these ${size} events.`]
    : []

const ofDeletions = ({ deletions }: CheckedEvidence): string[] => {
  const shown = deletions.filter((event) => event !== undefined)
  const withheld = deletions.length - shown.length
  return [
    ...(shown.length > 0 ? [`7. ${counted(shown.length, 'trace was', 'traces were')} deleted:`] : []),
    ...shown.map((event) => `     ${event.externalId}: ${timeText(event.at)} ${byText(event)}`),
    ...(withheld > 0
      ? [
          `7. Of ${counted(withheld, 'deletion')} that the file names the event is withheld: nothing shows that it is one.`,
        ]
      : []),
  ]
}

/** What a file proves, step by step, as lines of text. @param hasRepository whether lines were checked */
export const describeEvidence = (found: CheckedEvidence, hasRepository: boolean): string[] => [
  ...ofCheckpoint(found),
  ...ofEvents(found.events),
  ...ofSessions(found),
  ...ofLines(found, hasRepository),
  ...ofPrevious(found),
  ...ofDeletions(found),
]

/** The same in numbers, for scripts. */
export const evidenceDocument = ({
  origin,
  size,
  events,
  sessions,
  commits,
  lines,
  deletions,
  isKnownKey,
}: CheckedEvidence) => ({
  ...{
    type: 'evidence',
    origin,
    size,
    events: events.length,
    sessions: sessions.length,
    commits: commits.length,
    lines,
  },
  erased: deletions.filter((event) => event !== undefined).length,
  withheld: events.filter((event) => !isShown(event)).length,
  keyGiven: isKnownKey,
})
