import type { Agent, Session, StoredSession } from '../agents/agent.ts'
import { digest } from '../digest.ts'
import { type Redacted, type Redaction, type RedactionOptions, redactSession } from '../redaction/session.ts'
import type { KnownSecrets } from '../redaction/memory.ts'
import { countOf } from '../report/text.ts'
import type { SessionKey, SessionStates } from '../state/session-states.ts'
import type { SessionRun, SyncJob } from './run.ts'

/** The stamp of a session, with the version of the parser of its agent. */
export const readStamp = ({ id, version }: Agent, { stamp }: StoredSession): string => `${id}/${version} ${stamp}`

/** The same, with the version of the rules for secrets. */
export const stampOf = (
  agent: Agent,
  session: StoredSession,
  redaction: Pick<RedactionOptions, 'version'> | undefined,
): string => `${readStamp(agent, session)}${redaction?.version ?? ''}`

/**
 * A session to be sent, and, once it was sent, the text to continue reading from. `projectPath` is the path in its file, also if a
 * part of it looks like a secret, because rules depend on it.
 */
export type ReadResult = {
  readonly session: Session
  readonly projectPath: string | undefined
  readonly resume: () => string | undefined
  /** Takes secrets out of what was sent before; undefined if secrets are not taken out. */
  readonly redacted: Pick<Redacted, 'withoutSecrets'> | undefined
}

/** How a session is read. */
type How = Pick<SyncJob, 'redaction' | 'completeTrace'>

/** The maximum number in a text for people. */
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

type Reading = Omit<ReadResult, 'resume'> & {
  readonly resume: () => string | undefined
  readonly malformed: readonly number[]
  readonly redactions: readonly Redaction[]
  /** Whether a secret was found that may also occur in the part that was not read. */
  readonly hasNew: () => boolean
  /** The known secrets; undefined if there are none. */
  readonly known: Redacted['known']
}

/** A text to continue reading from, and the known secrets before that place. */
type Before = { readonly text: string; readonly known: KnownSecrets | undefined }

const read = async (
  { redaction, completeTrace }: How,
  { session: stored }: SessionRun,
  before: Before | undefined,
): Promise<Reading> => {
  const malformed: number[] = []
  const found = await stored.read({ onMalformed: (line) => void malformed.push(line), resume: before?.text })
  const session = completeTrace ? { ...found, trace: await completeTrace(found.trace) } : found
  const { projectPath } = session.trace
  const common = { projectPath, resume: () => found.resume?.(), malformed }
  if (!redaction) {
    const none = { redactions: [], redacted: undefined, hasNew: () => false, known: () => undefined }
    return { ...common, ...none, session }
  }
  const redacted = await redactSession(session, redaction, session.isResumed === true ? before?.known : undefined)
  const { redactions, hasNew, known } = redacted
  return { ...common, session: redacted.session, redactions, redacted, hasNew, known }
}

/**
 * The stored text to continue reading from. It begins with the rules for secrets by which everything before the place was read, and, if
 * secrets were found there, the id under which they are remembered.
 */
const newResume = (redaction: RedactionOptions | undefined, source: string) => {
  const [version, memory] = [redaction?.version ?? '', redaction?.memory]
  const wrap = ({ session, resume, hasNew, known }: Reading): string | undefined => {
    const text = resume()
    // A secret that only the second reading found may also occur before the place.
    if (text === undefined || (session.isResumed === true && hasNew())) return undefined
    const secrets = known()
    if (!secrets) return `${version}\n${text}`
    return memory && `${version} ${memory.remember(source, secrets)}\n${text}`
  }
  const unwrap = (kept: string | undefined): Before | undefined => {
    const end = kept?.indexOf('\n') ?? -1
    if (kept === undefined || !kept.startsWith(version)) return undefined
    const [rest, text] = [kept.slice(version.length, end), kept.slice(end + 1)]
    if (rest === '') return { text, known: undefined }
    const known = memory?.recall(source, rest.trim())
    return known && { text, known }
  }
  return { wrap, unwrap }
}

/** Whether secrets were taken out of a session when it was last sent from here; undefined if that is not known. */
export const wasRedacted = (states: SessionStates, session: SessionKey): boolean | undefined => {
  const source = states.find(session)?.sentFrom
  const kept = source === undefined ? undefined : states.resume(source)
  return kept === undefined ? undefined : !kept.startsWith('\n')
}

/** The unreadable lines that were not reported to the user before. */
const newLines = (run: SessionRun, { externalId }: Session, malformed: readonly number[]): readonly number[] => {
  const lines = new Map(malformed.map((line) => [`${externalId} line ${line}`, line]))
  return run.newLosses([...lines.keys()]).map((loss) => lines.get(loss)!)
}

/** Reports once that no line of a session is understood. The lines count as skipped. */
const reportUnknown = (run: SessionRun, { externalId, unknownLines: lines = 0 }: Session): void => {
  if (lines === 0 || run.newLosses([`${externalId} none understood`]).length === 0) return
  run.counts.skippedLines += lines
  run.counts.notUnderstood += 1
  const message = `none of ${countOf(lines, 'line')} understood: written by a newer agent than this version knows, or not a session?`
  run.report({ type: 'problem', kind: 'none_understood', file: run.session.source, message })
}

/** The secrets taken out that were not reported to the user before. */
const newRedactions = (run: SessionRun, { externalId: id }: Session, redactions: readonly Redaction[]) => {
  const keys = redactions.map(
    ({ hash, externalId, where }) => `secret ${digest([id, hash, externalId, where].join('\0'))}`,
  )
  const told = new Set(run.newLosses(keys))
  return redactions.filter((_, index) => told.delete(keys[index]!))
}

/**
 * Reads a session, takes secrets out if this is on, and reports once which secrets were taken out or left. With `states`, only the part
 * that was added since the last upload is read, if it can be determined; the whole session if that part reveals a new secret.
 */
export const readSession = async (
  how: How,
  run: SessionRun,
  states: SessionStates | undefined,
): Promise<ReadResult> => {
  const { counts, report } = run
  const { source: file } = run.session
  const { wrap, unwrap } = newResume(how.redaction, file)
  const part = await read(how, run, unwrap(states?.resume(file)))
  const reading = part.session.isResumed === true && part.hasNew() ? await read(how, run, undefined) : part
  const { session, projectPath, malformed, redacted } = reading
  const lines = newLines(run, session, malformed)
  counts.skippedLines += lines.length
  for (const line of lines)
    report({ type: 'problem', kind: 'line_skipped', file, line, message: 'not one JSON object: line skipped' })
  const redactions = newRedactions(run, session, reading.redactions)
  reportUnknown(run, session)
  counts.redacted += redactions.length
  for (const redaction of redactions) report({ type: 'redaction', file, ...redaction })
  if (redactions.length > 0)
    report({ type: 'notice', file, externalId: session.externalId, message: redactionNotice(redactions) })
  return { session, projectPath, resume: () => wrap(reading), redacted }
}
