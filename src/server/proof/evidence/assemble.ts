import type {
  Evidence,
  EvidenceCommit,
  EvidenceDeletion,
  EvidenceEvent,
  EvidenceRange,
  EvidenceSession,
} from '../../../contract/evidence.ts'
import type { ProvenEventOfTrace } from '../../../contract/proof.ts'
import { leafHash } from '../tree.ts'

/** Meanwhile the past of a session was erased, or the session was deleted and created again: what was asked for is of two histories. */
export class SessionChanged extends Error {
  override readonly name = 'SessionChanged'
}

/** A range of a file before its events have places in it: it names the message that a call wrote. */
export type CitingRange = Omit<EvidenceRange, 'events'> & { readonly message: string }
export type CitingCommit = Omit<EvidenceCommit, 'ranges'> & { readonly ranges: readonly CitingRange[] }

export type NamedSession = Omit<EvidenceSession, 'begins'>

/** A proof of one event. */
export type ProvenEvent = Pick<ProvenEventOfTrace, 'index' | 'entry' | 'proof'>

/** Of the events of a file only what joins them: their numbers in the log, by session and message. */
export type EvidenceIndex = {
  /** Takes the events of an answer to `POST …/proofs` for a session, and gives those that are new. @throws SessionChanged */
  add<E extends Omit<ProvenEventOfTrace, 'entry' | 'proof' | 'revision' | 'type'>>(
    session: number,
    events: readonly E[],
  ): E[]
  /** Takes the proof of a deletion. False if the event was there already. */
  addDeletion(traceId: string, index: number): boolean
  /** The indexes of all events, ascending: the order of the file. */
  indexes(): readonly number[]
  /** The lists of the file that name events by their place. @throws Error for a session without an answer, or a message that was not asked for */
  lists(
    sessions: readonly NamedSession[],
    commits: readonly CitingCommit[],
  ): Pick<Evidence, 'sessions' | 'commits' | 'deletions'>
}

type Indexes = { begins?: number; readonly byMessage: Map<string, number[]> }

export const newEvidenceIndex = (): EvidenceIndex => {
  const seen = new Set<number>()
  const ofSessions: Indexes[] = []
  const deletions: { readonly traceId: string; readonly index: number }[] = []

  const addEvent = (
    { begins, byMessage }: Indexes,
    { index, message }: { index: number; message?: string | undefined },
  ) => {
    if (message !== undefined) byMessage.set(message, [...(byMessage.get(message) ?? []), index])
    else if (begins !== undefined && begins !== index) throw new SessionChanged('A session has changed meanwhile.')
  }

  const take = (index: number): boolean => {
    const isNew = !seen.has(index)
    seen.add(index)
    return isNew
  }

  const add: EvidenceIndex['add'] = (session, events) => {
    const known = (ofSessions[session] ??= { byMessage: new Map() })
    for (const event of events) {
      addEvent(known, event)
      if (event.message === undefined) known.begins = event.index
    }
    return events.filter(({ index }) => take(index))
  }

  const indexes = () => [...seen].sort((a, b) => a - b)

  const lists: EvidenceIndex['lists'] = (sessions, commits) => {
    const places = new Map(indexes().map((index, place) => [index, place]))
    const eventsOf = ({ session, message }: CitingRange): number[] => {
      const found = ofSessions[session]?.byMessage.get(message)
      if (!found) throw new Error(`there are no proofs of the message ${message} of session ${session}`)
      return found.map((index) => places.get(index)!)
    }
    const beginsOf = (session: number): number => {
      const begins = ofSessions[session]?.begins
      if (begins === undefined) throw new Error(`there are no proofs of session ${session}`)
      return places.get(begins)!
    }
    return {
      sessions: sessions.map((session, i) => ({ ...session, begins: beginsOf(i) })),
      commits: commits.map(({ ranges, ...commit }) => ({
        ...commit,
        ranges: ranges.map(({ message, ...range }) => ({ ...range, events: eventsOf({ message, ...range }) })),
      })),
      deletions: deletions.map(({ traceId, index }): EvidenceDeletion => ({ traceId, event: places.get(index)! })),
    }
  }

  const addDeletion = (traceId: string, index: number) => {
    deletions.push({ traceId, index })
    return take(index)
  }

  return { add, addDeletion, indexes, lists }
}

/** An event as a file has it: with its text, or if it is withheld with the hash of its leaf. */
export const toEvidenceEvent = ({ index, entry, proof }: ProvenEvent, isWithheld = false): EvidenceEvent =>
  isWithheld ? { index, proof, leaf: leafHash(entry).toString('base64') } : { index, proof, entry }
