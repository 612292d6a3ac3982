import { EVIDENCE_FORMAT, type Evidence, type EvidenceEvent } from '../../../../../src/contract/evidence.ts'
import type { ProofOfMessages } from '../../../../../src/contract/proof.ts'
import {
  type CitingCommit,
  type NamedSession,
  type ProvenEvent,
  newEvidenceIndex,
  toEvidenceEvent,
} from '../../../../../src/server/proof/evidence/assemble.ts'

/** What a file is made of. All proofs lead to the tree of the checkpoint in `log`. */
type EvidenceParts = Pick<Evidence, 'madeAt' | 'madeBy' | 'log'> & {
  /** With the answers to `POST …/proofs`, of which each event is taken once. */
  readonly sessions: readonly (NamedSession & { readonly answers: readonly Pick<ProofOfMessages, 'events'>[] })[]
  readonly commits?: readonly CitingCommit[]
  readonly deletions?: readonly { readonly traceId: string; readonly proof: ProvenEvent }[]
  /** Whether only the hash of an event's leaf is given. */
  readonly isWithheld?: (event: ProvenEvent & { readonly message?: string | undefined }) => boolean
}

/** Joins answers of several sessions into one file, in memory. @throws SessionChanged; Error for a message of a range that was not asked for */
export const assembleEvidence = (parts: EvidenceParts): Evidence => {
  const { madeAt, madeBy, log, commits = [], deletions = [], isWithheld = () => false } = parts
  const index = newEvidenceIndex()
  const events = new Map<number, EvidenceEvent>()
  for (const [i, { answers }] of parts.sessions.entries())
    for (const answer of answers)
      for (const event of index.add(i, answer.events))
        events.set(event.index, toEvidenceEvent(event, isWithheld(event)))
  for (const { traceId, proof } of deletions)
    if (index.addDeletion(traceId, proof.index)) events.set(proof.index, toEvidenceEvent(proof, isWithheld(proof)))
  const sessions = parts.sessions.map(({ answers: _, ...session }) => session)
  return {
    format: EVIDENCE_FORMAT,
    madeAt,
    madeBy,
    log,
    events: index.indexes().map((one) => events.get(one)!),
    ...index.lists(sessions, commits),
  }
}
