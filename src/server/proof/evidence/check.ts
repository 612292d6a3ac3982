import {
  EVIDENCE_FORMAT,
  Evidence,
  type EvidenceCommit,
  type EvidenceDeletion,
  type EvidenceEvent,
  type EvidenceLines,
  type EvidenceSession,
} from '../../../contract/evidence.ts'
import { type Checkpoint, openCheckpoint } from '../checkpoint.ts'
import { BadKey, BadNote, type Verifier, parseVerifier } from '../note.ts'
import { isConsistent } from '../tree.ts'
import { BadEvidence, type Step } from './bad-evidence.ts'
import { type CheckedEvent, type ShownEvent, hashesIn, isShown, newEventCheck } from './check-event.ts'
import { type LineCount, type LinesOfRange, newLineCheck } from './line-check.ts'
import { parseStrictly } from './strict-json.ts'

/** A session of a checked file. */
export type CheckedSession = Omit<EvidenceSession, 'begins'> & {
  /** The event that it begins with; undefined if that is withheld. */
  readonly begins: ShownEvent | undefined
  /** Whether the file has the proof that its trace was deleted after it had begun. */
  readonly isErased: boolean
}

/** What a file proves. `namespace` and `agentId` of sessions, `repository`, `madeAt` and `madeBy` are what its maker says. */
export type CheckedEvidence = {
  readonly origin: string
  readonly size: number
  /** The key that signed the checkpoint; whether the caller gave it, or it came with the file. */
  readonly key: string
  readonly isKnownKey: boolean
  readonly madeAt: number
  readonly madeBy: string
  /** The older checkpoint that the log has continued. */
  readonly previous: Checkpoint | undefined
  readonly events: readonly CheckedEvent[]
  readonly sessions: readonly CheckedSession[]
  readonly commits: readonly EvidenceCommit[]
  /** The deletions of traces; undefined for one that is withheld. */
  readonly deletions: readonly (ShownEvent | undefined)[]
  /** Without the repository `checked` is 0, and `of` counts weak lines, too. */
  readonly lines: LineCount
}

/** All of a file but its events, which may be many. */
export type EvidenceFrame = Omit<Evidence, 'events'>

type Options = {
  /** The key of the log in its verifier form, as it is known from elsewhere. */
  readonly key?: string | undefined
  /** Reads the lines of ranges from the repository. Without it they are not checked. */
  readonly linesOf?: LinesOfRange | undefined
}

/** The value of JSON in UTF-8. @throws BadEvidence for other bytes */
export const jsonIn = (bytes: Uint8Array): unknown => {
  try {
    return parseStrictly(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch (error) {
    throw new BadEvidence('format', undefined, `it is not JSON in UTF-8: ${(error as Error).message}`)
  }
}

/** The file that a JSON value is, of which nothing is checked but its shape. @throws BadEvidence */
export const evidenceIn = (value: unknown): Evidence => {
  const format = (value as { format?: unknown } | null)?.format
  if (format !== EVIDENCE_FORMAT) throw new BadEvidence('format', undefined, `its format is not "${EVIDENCE_FORMAT}"`)
  const { data, error } = Evidence.safeParse(value)
  if (data) return data
  const { path, message } = error.issues[0]!
  throw new BadEvidence('format', path.length > 0 ? path.join('.') : undefined, message)
}

/** @throws BadEvidence */
const verifierOf = (key: string): Verifier => {
  try {
    return parseVerifier(key)
  } catch (error) {
    if (error instanceof BadKey) throw new BadEvidence(1, 'key', error.message)
    throw error
  }
}

/** Whether no signature stands in a note twice, and only one is of the key: verifiers differ in which of several they check. */
const isSignedOnce = (note: string, { name, id }: Verifier): boolean => {
  const lines = note.slice(note.lastIndexOf('\n\n') + 2, -1).split('\n')
  const prefix = `\u2014 ${name} `
  const isOurs = (line: string) =>
    line.startsWith(prefix) && Buffer.from(line.slice(prefix.length), 'base64').subarray(0, id.length).equals(id)
  return new Set(lines).size === lines.length && lines.filter(isOurs).length === 1
}

/** A checkpoint of the log that the key is named after. @throws BadEvidence */
const openSigned = (note: string, verifier: Verifier, step: Step): Checkpoint => {
  try {
    const checkpoint = openCheckpoint(note, verifier)
    if (!isSignedOnce(note, verifier)) throw new BadEvidence(step, 'checkpoint', 'it is signed twice')
    if (checkpoint.origin !== verifier.name)
      throw new BadEvidence(step, 'checkpoint', `it is that of ${checkpoint.origin}, not of ${verifier.name}`)
    return checkpoint
  } catch (error) {
    if (error instanceof BadNote) throw new BadEvidence(step, 'checkpoint', error.message)
    throw error
  }
}

/** Step 1. @throws BadEvidence */
const openHead = ({ log }: EvidenceFrame, verifier: Verifier): Checkpoint => {
  const head = openSigned(log.checkpoint, verifier, 1)
  if (head.origin !== log.origin)
    throw new BadEvidence(1, 'origin', `the checkpoint is that of ${head.origin}, not of ${log.origin}`)
  return head
}

/** Step 6. @throws BadEvidence */
const checkPrevious = ({ log }: EvidenceFrame, verifier: Verifier, head: Checkpoint): Checkpoint | undefined => {
  if (!log.previous) return undefined
  const older = openSigned(log.previous.checkpoint, verifier, 6)
  if (older.size === 0) throw new BadEvidence(6, 'checkpoint', 'it is that of an empty log, which every log continues')
  if (!isConsistent(older, head, hashesIn(log.previous.proof, 6, 'proof')))
    throw new BadEvidence(6, 'proof', 'it does not lead from the older checkpoint to this one')
  return older
}

/** @throws BadEvidence */
const eventAt = (events: readonly CheckedEvent[], index: number, step: Step, place: string): CheckedEvent => {
  const event = events[index]
  if (!event) throw new BadEvidence(step, place, `the file has no event ${index}`)
  return event
}

const streamOf = ({ traceId }: { readonly traceId: string }) => `trace-${traceId}`

const BEGINNINGS: ReadonlySet<string> = new Set(['TraceCreated', 'HistoryErased'])

/** Step 4. Gives the event that the session begins with; undefined if it is withheld. @throws BadEvidence */
const checkSession = (
  session: EvidenceSession,
  place: string,
  events: readonly CheckedEvent[],
): ShownEvent | undefined => {
  const begins = eventAt(events, session.begins, 4, place)
  if (!isShown(begins)) return undefined
  const { type, stream, externalId } = begins
  if (!BEGINNINGS.has(type)) throw new BadEvidence(4, place, `it begins with an event of type ${type}`)
  if (stream !== streamOf(session)) throw new BadEvidence(4, place, `it begins with an event of ${stream}`)
  if (externalId !== session.externalId) throw new BadEvidence(4, place, `it begins with the session ${externalId}`)
  return begins
}

const assertDisjoint = (all: readonly EvidenceLines[], sha: string): void => {
  for (const [path, lines] of Map.groupBy(all, ({ path }) => path)) {
    const sorted = lines.toSorted((a, b) => a.start - b.start)
    for (const [i, { start }] of sorted.entries())
      if (i > 0 && start <= sorted[i - 1]!.end)
        throw new BadEvidence(5, `line ${start} of ${path} in ${sha}`, 'it stands in two ranges')
  }
}

/** Each commit is there once, and no line of it twice, so that none counts twice, or is held twice. @throws BadEvidence */
export const assertLinesOnce = (commits: readonly EvidenceCommit[]): void => {
  const seen = new Set<string>()
  for (const { sha, ranges, unknown } of commits) {
    if (seen.has(sha)) throw new BadEvidence(5, `commit ${sha}`, 'the file has it twice')
    seen.add(sha)
    assertDisjoint([...ranges, ...unknown], sha)
  }
}

/** The rest of step 5 that needs no repository. @throws BadEvidence */
const checkCommit = (
  { sha, ranges }: EvidenceCommit,
  sessions: readonly EvidenceSession[],
  events: readonly CheckedEvent[],
): void => {
  for (const { path, start, end, session, events: own } of ranges) {
    const place = `lines ${start} to ${end} of ${path} in ${sha}`
    const trace = sessions[session]
    if (!trace) throw new BadEvidence(5, place, `the file has no session ${session}`)
    for (const index of own) {
      const event = eventAt(events, index, 5, place)
      if (isShown(event) && event.stream !== streamOf(trace))
        throw new BadEvidence(5, place, `event ${index} is not one of session ${session}`)
    }
  }
}

/** Step 7. Gives the event; undefined if it is withheld. @throws BadEvidence */
const checkDeletion = (
  deletion: EvidenceDeletion,
  place: string,
  events: readonly CheckedEvent[],
): ShownEvent | undefined => {
  const event = eventAt(events, deletion.event, 7, place)
  if (!isShown(event)) return undefined
  if (event.type !== 'TraceDeleted' || event.stream !== streamOf(deletion))
    throw new BadEvidence(7, place, `event ${deletion.event} is no deletion of the trace ${deletion.traceId}`)
  return event
}

const checkCommits = ({ commits, sessions }: EvidenceFrame, events: readonly CheckedEvent[]): void => {
  assertLinesOnce(commits)
  for (const commit of commits) checkCommit(commit, sessions, events)
}

const linesIn = (commits: readonly EvidenceCommit[]): number =>
  commits.flatMap(({ ranges }) => ranges).reduce((sum, { start, end }) => sum + end - start + 1, 0)

/** A check that takes the events one after the other, so that they need not be in memory together. */
export type EvidenceCheck = {
  /** Takes the next event, in the order of the file. @throws BadEvidence */
  event(event: EvidenceEvent): void
  /** All events were taken. @throws BadEvidence */
  end(): CheckedEvidence
}

/** Begins to check a file, by the steps in the README of the audit commands. @throws BadEvidence for the steps 1 and 6, and for lines that a commit does not have */
export const beginCheck = (frame: EvidenceFrame, { key, linesOf }: Options = {}): EvidenceCheck => {
  const verifier = verifierOf(key ?? frame.log.key)
  const head = openHead(frame, verifier)
  const previous = checkPrevious(frame, verifier, head)
  const checkEvent = newEventCheck(head)
  const lineCheck = linesOf && newLineCheck(frame.commits, linesOf)
  const events: CheckedEvent[] = []

  const event = (next: EvidenceEvent) => {
    const passed = checkEvent(next)
    lineCheck?.event(events.length, passed)
    events.push(passed.event)
  }

  const end = (): CheckedEvidence => {
    const { sessions, commits, madeAt, madeBy } = frame
    const begins = sessions.map((session, i) => checkSession(session, `session ${i}`, events))
    checkCommits(frame, events)
    const lines = lineCheck?.end() ?? { checked: 0, of: linesIn(commits) }
    const deletions = frame.deletions.map((deletion, i) => checkDeletion(deletion, `deletion ${i}`, events))
    const isErased = (session: EvidenceSession): boolean =>
      deletions.some(
        (deletion) => deletion?.stream === streamOf(session) && deletion.index > events[session.begins]!.index,
      )
    return {
      origin: head.origin,
      size: head.size,
      key: verifier.text,
      isKnownKey: key !== undefined,
      ...{ madeAt, madeBy, previous, events, commits, deletions, lines },
      sessions: sessions.map((session, i) => ({
        ...session,
        begins: begins[i],
        isErased: isErased(session),
      })),
    }
  }

  return { event, end }
}

/** Checks a file with these bytes: the key as it is known from elsewhere, otherwise the one in the file. @throws BadEvidence */
export const checkEvidence = (bytes: Uint8Array, options: Options = {}): CheckedEvidence => {
  const { events, ...frame } = evidenceIn(jsonIn(bytes))
  const check = beginCheck(frame, options)
  for (const event of events) check.event(event)
  return check.end()
}
