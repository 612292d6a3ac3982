import type { FastifyReply } from 'fastify'
import { version } from '../../base/version.ts'
import { pause } from '../../base/waits.ts'
import { type Evidence, EVIDENCE_FORMAT } from '../../contract/evidence.ts'
import { eventsOfTrace } from '../history/events-of-trace.ts'
import { type PresentTraceRow, firstRevision } from '../history/locate.ts'
import { listOfHistory } from '../history/open-past.ts'
import type { HistoryServices } from '../history/services.ts'
import type { Caller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { endOfList } from '../http/json-text.ts'
import { BrokenOff, type Chunk } from '../http/long-list.ts'
import { coverageOf } from './coverage.ts'
import { proveEvents } from './event-proof.ts'
import { type NamedSession, toEvidenceEvent } from './evidence/assemble.ts'
import { RETRY_AFTER, notCovered } from './not-covered.ts'
import { parseVerifier } from './note.ts'
import type { ProofServices } from './services.ts'
import type { SignedCheckpoint } from './signed-checkpoints.ts'
import { windowsOf } from './windows.ts'

type Services = ProofServices & HistoryServices & { readonly now: () => number }

/** How often the newest checkpoint is looked at. */
const LOOK_MS = 100

/**
 * A checkpoint that covers all events of a trace. Waits for it as long as one usually takes, so that a session that goes on has evidence, too.
 * @throws 404 if none is served, or none covers them then: with `Retry-After`
 */
const checkpointOver = async (services: Services, trace: PresentTraceRow): Promise<SignedCheckpoint> => {
  const until = performance.now() + RETRY_AFTER * 1_000
  for (;;) {
    const coverage = await coverageOf(services, trace)
    if (coverage.is === 'unsigned') throw notFound()
    if (coverage.is === 'covered' && coverage.retryAfter === undefined) return coverage.checkpoint
    if (performance.now() > until) throw notCovered()
    await pause(LOOK_MS)
  }
}

/** The members before the events. */
type Head = Pick<Evidence, 'format' | 'madeAt' | 'madeBy' | 'log'>

const headText = ({ key, note }: SignedCheckpoint, now: number): string => {
  const head: Head = {
    format: EVIDENCE_FORMAT,
    madeAt: now,
    madeBy: `tracebook ${version}`,
    log: { origin: parseVerifier(key).name, key, checkpoint: note },
  }
  return `${JSON.stringify(head).slice(0, -1)},"events":[`
}

type EvidenceFile = {
  readonly trace: PresentTraceRow
  readonly caller: Caller | undefined
  /** The session as the file names it. */
  readonly session: NamedSession
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Sends the evidence of a session, without commits: the event that it begins with, and those that wrote its messages. All proofs lead to the tree of one
 * checkpoint. Its events come in the order of the file, so they are read and proved some at a time, while it is sent. @throws 404
 */
export const sendEvidence = async (
  services: Services,
  reply: FastifyReply,
  { trace, caller, session, headers }: EvidenceFile,
): Promise<FastifyReply> => {
  const checkpoint = await checkpointOver(services, trace)
  let [count, begins] = [0, 0]

  async function* withItems() {
    for await (const event of eventsOfTrace(services, trace)) yield { event }
  }

  async function* chunks(): AsyncGenerator<Chunk<string>, void> {
    for await (const { items } of windowsOf(withItems())) {
      const events = items.map(({ event }) => event)
      const proven = await proveEvents(services, events, checkpoint.size)
      if (!proven) throw new BrokenOff('an event is not covered by the checkpoint')
      const first = events.findIndex(({ revision }) => revision === firstRevision(trace))
      if (first !== -1) begins = count + first
      count += events.length
      const rows = proven.map((event) => JSON.stringify(toEvidenceEvent(event)))
      yield { rows, size: rows.reduce((sum, { length }) => sum + length, 0) }
    }
  }

  const sessions = (): Evidence['sessions'] => [{ ...session, begins }]

  return services.longLists.send(reply, {
    ...listOfHistory(services, trace, caller),
    chunks,
    before: headText(checkpoint, services.now()),
    toText: (text) => text,
    after: () =>
      endOfList<Omit<Evidence, keyof Head>, 'events'>({
        sessions: JSON.stringify(sessions()),
        commits: '[]',
        deletions: '[]',
      }),
    headers: () => headers,
  })
}
