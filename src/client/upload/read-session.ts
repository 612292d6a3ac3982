import type { Agent, FoundSession, ReadOptions, Session, StoredSession } from '../agents/agent.ts'
import { stampOf } from '../agents/support/files.ts'
import { digest } from '../digest.ts'
import { REDACTED } from '../redaction/options.ts'
import { type Redacted, type Redaction, type RedactionOptions, redactSession } from '../redaction/session.ts'
import { countOf, leftOutText } from '../report/text.ts'
import type { SentSession, SessionKey, SessionStates } from '../state/session-states.ts'
import { unknownKindLoss } from '../state/sync-state.ts'
import type { LiveSession } from './live-sessions.ts'
import type { SessionRun, Run } from './run.ts'

/** The stamp of a session, with the version of the parser of its agent. */
export const readStamp = ({ id, version }: Agent, stored: StoredSession): string =>
  `${id}/${version} ${stampOf(stored)}`

/** Whether a session, as it is in its files, was read by another version of the parser: then it has `stamp`, that of the earlier reading. */
export const isReadOtherwise = ({ agent, stored }: FoundSession, stamp: string | undefined): boolean =>
  stamp !== undefined && stamp !== readStamp(agent, stored) && stamp.endsWith(` ${stampOf(stored)}`)

/** How a session is read now: by the version of its agent's parser, and of the rules for secrets. */
type Reader = { readonly agent: Agent; readonly redaction: Pick<RedactionOptions, 'version'> | undefined }

/** The files of a session as they are recorded once it was sent: the stamp of each, with how it was read. */
export const sentFiles = ({ files }: StoredSession, { agent: { id, version }, redaction }: Reader) =>
  new Map(files.map(({ path, stamp }) => [path, `${id}/${version} ${stamp}${redaction?.version ?? ''}`]))

/** Whether a session was sent as it is in its files, and would be read as it was then. */
export const isUnchanged = (stored: StoredSession, sent: SentSession, reader: Reader): boolean =>
  [...sentFiles(stored, reader)].every(([path, stamp]) => sent.files.get(path) === stamp)

/**
 * A session to be sent. `projectPath` is the path in its file, also if a part of it looks like a secret, because rules depend on it.
 */
export type ReadResult = {
  readonly session: Session
  readonly projectPath: string | undefined
  /** The folders in which its files were begun, also as they are in its files. */
  readonly folders: readonly string[]
  /** What the next reading goes on with, once all was sent to `states`; undefined if it has to read the session whole. */
  readonly live: (states: SessionStates) => LiveSession | undefined
  /** Takes secrets out of what was sent before; undefined if secrets are not taken out. */
  readonly redacted: Pick<Redacted, 'withoutSecrets'> | undefined
}

/** How a session is read. */
type How = Pick<Run, 'redaction' | 'completeTrace' | 'resumedFrom' | 'live'>

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

/** A line that is not one JSON object, with how many of its bytes are lost, if that is known, in a file of the session. */
type Malformed = { readonly line: number; readonly lost: number | undefined; readonly file: string }

type Reading = ReadResult & {
  readonly malformed: readonly Malformed[]
  readonly redactions: readonly Redaction[]
  /** Whether added lines show a secret that may also occur in the part that was not read. */
  readonly hasNew: () => boolean
}

/** A session that does not name itself as the one that it comes from. */
const withoutItself = (session: Session): Session => {
  const { parentExternalId, parentCallId: _call, parentKind: _kind, ...trace } = session.trace
  return parentExternalId === session.externalId ? { ...session, trace } : session
}

/** A session that says of which trace it was made, if it was made of one. */
const withOrigin = async (session: Session, { id }: Agent, { resumedFrom }: How): Promise<Session> => {
  const origin = await resumedFrom?.(id, session.externalId)
  if (origin === undefined) return session
  const { parentCallId: _, ...trace } = session.trace
  return { ...session, trace: { ...trace, parentExternalId: origin, parentKind: 'resume' } }
}

/** A session with what its repository tells. */
const completed = async (session: Session, { completeTrace }: How, at: number | undefined): Promise<Session> => {
  if (!completeTrace) return session
  const { trace, standIns = [] } = await completeTrace(session.trace, at)
  return { ...session, trace, standIns: new Set([...(session.standIns ?? []), ...standIns]) }
}

const read = async (how: How, { agent, stored }: SessionRun, before: LiveSession | undefined): Promise<Reading> => {
  const { redaction, live } = how
  const malformed: Malformed[] = []
  const goOn = live && { from: before?.reading }
  const onMalformed: ReadOptions['onMalformed'] = (line, lost, file = stored.source) =>
    void malformed.push({ line, lost, file })
  const found = withoutItself(await withOrigin(await stored.read({ onMalformed, goOn }), agent, how))
  const session = await completed(found, how, stored.writtenAt)
  const { projectPath } = session.trace
  const known = session.isContinued === true ? before?.known : undefined
  const redacted = redaction && (await redactSession(session, redaction, known))
  const hasNew = () => session.isContinued === true && redacted?.hasNew() === true
  return {
    session: redacted?.session ?? session,
    projectPath,
    folders: session.folders ?? [],
    malformed,
    redactions: redacted?.redactions ?? [],
    redacted,
    hasNew,
    live: (states) => {
      const reading = found.live?.()
      // A secret that only the second reading found may also occur before the added lines.
      return reading && !hasNew() ? { reading, states, known: redacted?.known } : undefined
    },
  }
}

/** Whether secrets were taken out of a session when it was last sent from here; undefined if that is not known. */
export const wasRedacted = (states: SessionStates, session: SessionKey): boolean | undefined => {
  const sent = states.find(session)
  return sent?.sentFrom === undefined ? undefined : sent.files.get(sent.sentFrom)?.includes(REDACTED)
}

const lossText = (bytes: number | undefined): string =>
  `not one JSON object: ${bytes === undefined ? 'left out' : `${countOf(bytes, 'byte')} left out`}`

/** The unreadable lines that were not reported to the user before. */
const newLines = (session: SessionRun, { externalId }: Session, malformed: readonly Malformed[]) => {
  const { source } = session.stored
  const lossOf = ({ line, file }: Malformed) =>
    `${externalId}${file === source ? '' : ` file ${digest(file)}`} line ${line}`
  const lines = new Map(malformed.map((one) => [lossOf(one), one]))
  return session.newLosses([...lines.keys()]).map((loss) => lines.get(loss)!)
}

/** Parts of one kind of a session beyond this number are not told apart any more. */
const MOST_PARTS = 1_000

/** Reports once each part of a session that was left out, because its kind is not known: all new ones together. */
const reportKinds = (session: SessionRun, { externalId, leftOut = new Map() }: Session): void => {
  const kindOf = new Map<string, string>()
  for (const [kind, parts] of leftOut)
    for (let part = 1; part <= Math.min(parts, MOST_PARTS); part++)
      kindOf.set(unknownKindLoss(externalId, kind, part), kind)
  if (kindOf.size === 0) return
  const losses = session.newLosses([...kindOf.keys()])
  if (losses.length === 0) return
  const kinds = [...new Set(losses.map((loss) => kindOf.get(loss)!))]
  const parts = losses.length
  session.counts.unknownParts += parts
  const message = leftOutText(parts, kinds)
  session.report({ type: 'problem', kind: 'kinds_left_out', file: session.stored.source, parts, kinds, message })
}

/** Reports once that no line of a session is understood. The lines count as skipped. */
const reportUnknown = (session: SessionRun, { externalId, unknownLines: lines = 0 }: Session): void => {
  if (lines === 0 || session.newLosses([`${externalId} none understood`]).length === 0) return
  session.counts.skippedLines += lines
  session.counts.notUnderstood += 1
  const message = `none of ${countOf(lines, 'line')} understood: written by a newer agent than this version knows, or not a session?`
  session.report({ type: 'problem', kind: 'none_understood', file: session.stored.source, message })
}

/** The secrets taken out that were not reported to the user before. */
const newRedactions = (session: SessionRun, { externalId: id }: Session, redactions: readonly Redaction[]) => {
  const keys = redactions.map(
    ({ hash, externalId, where }) => `secret ${digest([id, hash, externalId, where].join('\0'))}`,
  )
  const told = new Set(session.newLosses(keys))
  return redactions.filter((_, index) => told.delete(keys[index]!))
}

/**
 * Reads a session, takes secrets out if this is on, and reports once which secrets were taken out or left. With `states`, only the lines that
 * were added since it was last sent there are read, if a watch has kept the reading; the whole session if they show a new secret.
 */
export const readSession = async (
  how: How,
  session: SessionRun,
  states: SessionStates | undefined,
): Promise<ReadResult> => {
  const { counts, report } = session
  const { source: file } = session.stored
  const before = how.live?.take(file)
  const part = await read(how, session, before && before.states === states ? before : undefined)
  const reading = part.hasNew() ? await read(how, session, undefined) : part
  const { session: found, malformed } = reading
  const lines = newLines(session, found, malformed)
  counts.skippedLines += lines.length
  for (const { line, lost: bytes, file: damaged } of lines) {
    counts.skippedBytes += bytes ?? 0
    const known = bytes === undefined ? {} : { bytes }
    report({ type: 'problem', kind: 'line_skipped', file: damaged, line, ...known, message: lossText(bytes) })
  }
  const redactions = newRedactions(session, found, reading.redactions)
  reportUnknown(session, found)
  reportKinds(session, found)
  counts.redacted += redactions.length
  for (const redaction of redactions) report({ type: 'redaction', file, ...redaction })
  if (redactions.length > 0)
    report({ type: 'notice', file, externalId: found.externalId, message: redactionNotice(redactions) })
  return reading
}
