import type { Session } from '../agents/agent.ts'
import { type Redacted, type Redaction, type RedactionOptions, redactSession } from '../redaction/session.ts'
import { countOf } from '../report/text.ts'
import type { SessionStates } from '../state/session-states.ts'
import type { SessionRun, SyncJob } from './sync-session.ts'

/**
 * A session as it is to be sent, and once it was sent the text to go on reading from. `projectPath` is that of its file, also
 * where a part of it was taken for a secret: rules go by it.
 */
export type ReadResult = {
  readonly session: Session
  readonly projectPath: string | undefined
  readonly resume: () => string | undefined
  /** What tells whether its secrets were sent before; undefined where they are not taken out. */
  readonly redacted: Pick<Redacted, 'earlierMessages' | 'earlierTraces'> | undefined
}

/** How a session is read. */
type How = Pick<SyncJob, 'redaction' | 'completeTrace'>

/** So many are told of in the text that a person reads. */
const NAMED = 3

const redactionNotice = (redactions: readonly Redaction[]): string => {
  const named = redactions
    .slice(0, NAMED)
    .map(
      ({ rule, externalId, where, hash }) =>
        `${rule} in ${externalId ? `message ${externalId}, ` : ''}${where} (${hash.slice(0, 12)})`,
    )
  const more = redactions.length - named.length
  return `secrets taken out: ${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

type Reading = ReadResult & { readonly malformed: readonly number[]; readonly redactions: readonly Redaction[] }

const read = async (
  { redaction, completeTrace }: How,
  { session: stored }: SessionRun,
  text: string | undefined,
): Promise<Reading> => {
  const malformed: number[] = []
  const found = await stored.read({ onMalformed: (line) => void malformed.push(line), resume: text })
  const session = completeTrace ? { ...found, trace: await completeTrace(found.trace) } : found
  const { projectPath } = session.trace
  const resume = () => found.resume?.()
  if (!redaction) return { session, projectPath, resume, malformed, redactions: [], redacted: undefined }
  const redacted = await redactSession(session, redaction)
  return {
    session: redacted.session,
    projectPath,
    // A secret is replaced wherever it occurs in a session, so one that has some is always read whole.
    resume: () => (redacted.isClean() ? resume() : undefined),
    malformed,
    redactions: redacted.redactions,
    redacted,
  }
}

/** The rules for secrets that all before the place was read by, and the agent's text for that place. */
const newResume = (redaction: RedactionOptions | undefined) => {
  const beginning = `${redaction?.version ?? ''}\n`
  return {
    wrap: (text: string | undefined) => (text === undefined ? undefined : beginning + text),
    unwrap: (text: string | undefined) => (text?.startsWith(beginning) ? text.slice(beginning.length) : undefined),
  }
}

/** Those of the lines that could not be read which the user was not told of before. */
const newLines = (run: SessionRun, { externalId }: Session, malformed: readonly number[]): readonly number[] => {
  const lines = new Map(malformed.map((line) => [`${externalId} line ${line}`, line]))
  return run.newLosses([...lines.keys()]).map((loss) => lines.get(loss)!)
}

/** Tells once of a session of which no line is understood: they count as skipped ones. */
const tellUnknown = (run: SessionRun, { externalId, unknownLines: lines = 0 }: Session): void => {
  if (lines === 0 || run.newLosses([`${externalId} none understood`]).length === 0) return
  run.counts.skippedLines += lines
  run.counts.notUnderstood += 1
  const message = `${countOf(lines, 'line')}, none understood: newer than this version, or no session?`
  run.report({ type: 'problem', kind: 'none_understood', file: run.session.source, message })
}

/**
 * Reads a session, takes the secrets out, where that is asked for, and reports what is left and taken out. With `states` only
 * what was added since it was sent last, where that can be told apart.
 */
export const readSession = async (
  how: How,
  run: SessionRun,
  states: SessionStates | undefined,
): Promise<ReadResult> => {
  const { counts, report } = run
  const { source: file } = run.session
  const { wrap, unwrap } = newResume(how.redaction)
  const part = await read(how, run, unwrap(states?.resume(file)))
  const isWhole = part.session.isResumed !== true || part.redactions.length === 0
  const { session, projectPath, resume, malformed, redactions, redacted } = isWhole
    ? part
    : await read(how, run, undefined)
  const lines = newLines(run, session, malformed)
  counts.skippedLines += lines.length
  for (const line of lines)
    report({ type: 'problem', kind: 'line_skipped', file, line, message: 'not one JSON object: line skipped' })
  tellUnknown(run, session)
  counts.redacted += redactions.length
  for (const redaction of redactions) report({ type: 'redaction', file, ...redaction })
  if (redactions.length > 0)
    report({ type: 'notice', file, externalId: session.externalId, message: redactionNotice(redactions) })
  return { session, projectPath, resume: () => wrap(resume()), redacted }
}
