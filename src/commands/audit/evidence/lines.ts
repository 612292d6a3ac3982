import type { EvidenceLines } from '../../../contract/evidence.ts'
import type { AttributedRange, Hunk } from '../../../client/api/attribution.ts'
import type { AddedLines, ChangedCommit } from '../../../client/attribution/commits.ts'
import type { CitingCommit, CitingRange, NamedSession } from '../../../server/proof/evidence/assemble.ts'

/** A session of the file, the messages whose events it needs, and when the last of them was written, in milliseconds. */
export type WantedSession = NamedSession & { readonly messages: Set<string>; at: number }

/** The sessions of a file, each once. */
export type WantedSessions = {
  /** The number of a session in the file. */
  numberOf(session: NamedSession): number
  /** Wants the events of a message. */
  want(session: number, message: string, at: number): void
  readonly all: readonly WantedSession[]
}

export const newWantedSessions = (): WantedSessions => {
  const all: WantedSession[] = []
  const numbers = new Map<string, number>()
  const numberOf = (session: NamedSession): number => {
    const known = numbers.get(session.traceId)
    if (known !== undefined) return known
    numbers.set(session.traceId, all.length)
    return all.push({ ...session, messages: new Set(), at: 0 }) - 1
  }
  const want = (number: number, message: string, at: number) => {
    const session = all[number]!
    session.messages.add(message)
    session.at = Math.max(session.at, at)
  }
  return { numberOf, want, all }
}

/** The lines of a hunk that no range has. */
function* gapsIn({ path, start = 1, added }: Hunk, ranges: readonly CitingRange[]): Generator<EvidenceLines, void> {
  let next = start
  for (const range of ranges) {
    if (range.start > next) yield { path, start: next, end: range.start - 1 }
    next = range.end + 1
  }
  const last = start + added.length - 1
  if (next <= last) yield { path, start: next, end: last }
}

/** What git shows of a path that is no UTF-8: it cannot be written in the file. */
const REPLACED = '\ufffd'

const isCounted = ({ evidence }: AttributedRange) => evidence !== 'moved'

const linesOf = ({ path, start, count }: AddedLines): EvidenceLines => ({ path, start, end: start + count - 1 })

/** The commit as the file has it. `answers` are those for its hunks. */
export const citingCommit = (
  { commit: { sha }, hunks, notAsked }: ChangedCommit,
  answers: readonly (readonly AttributedRange[])[],
  { slug, repository, sessions }: { slug: string; repository: string | undefined; sessions: WantedSessions },
): CitingCommit => {
  const citing = (path: string, { start, end, evidence, trace, message, at }: AttributedRange): CitingRange => {
    const { id: traceId, externalId, agentId } = trace
    const session = sessions.numberOf({ namespace: slug, traceId, externalId, agentId })
    sessions.want(session, message.externalId, at)
    return { path, start, end, evidence: evidence as CitingRange['evidence'], session, message: message.externalId }
  }
  const [ranges, unknown]: [CitingRange[], EvidenceLines[]] = [[], []]
  for (const [i, hunk] of hunks.entries()) {
    const counted = hunk.path.includes(REPLACED) ? [] : answers[i]!.filter(isCounted)
    const own = counted.map((range) => citing(hunk.path, range))
    ranges.push(...own)
    unknown.push(...gapsIn(hunk, own))
  }
  unknown.push(...notAsked.map(linesOf))
  return { ...(repository === undefined ? {} : { repository }), sha, ranges, unknown }
}

/** The commit without ranges of messages that are not in the file: their lines are unknown. */
export const withoutMessages = (
  { ranges, unknown, ...commit }: CitingCommit,
  isMissing: (session: number, message: string) => boolean,
): CitingCommit => {
  const [gone, kept] = [[] as CitingRange[], [] as CitingRange[]]
  for (const range of ranges) (isMissing(range.session, range.message) ? gone : kept).push(range)
  return {
    ...commit,
    ranges: kept,
    unknown: [...unknown, ...gone.map(({ path, start, end }) => ({ path, start, end }))],
  }
}
