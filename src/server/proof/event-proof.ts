import type { EventProof } from '../../contract/proof.ts'
import { ExplainedUnavailable, type Unavailable } from '../../eventstore/engine/rejected.ts'
import { notFound } from '../http/http-error.ts'
import type { RecordedEvent } from '../../eventstore/log/log.ts'
import { pause } from '../../base/waits.ts'
import { entryOf, leafHashOf } from './entry.ts'
import { leafOfEvent, servedCheckpoint } from './queries.ts'
import type { ProofServices } from './services.ts'
import type { SignedCheckpoint } from './signed-checkpoints.ts'
import { type RunQuery, readHashes, readRoots, TreeDiffers } from './stored-tree.ts'
import { type HashRange, type Span, inclusionSpans } from './tree.ts'

/** How often a request looks for the first checkpoint of a new service. */
const LOOK_MS = 100

/** The newest checkpoint. Waits for the first one of a new service. @throws 404 if none is served */
export const requireCheckpoint = async ({ reads, checkpoints }: ProofServices): Promise<SignedCheckpoint> => {
  if (!checkpoints.areServed) throw notFound()
  for (;;) {
    const found = await servedCheckpoint(reads)
    if (found) return found
    if (performance.now() > checkpoints.waitUntil) throw notFound()
    await pause(LOOK_MS)
  }
}

/** The tree or the log was tampered with, so a proof would be wrong. */
const damaged = ({ logger }: ProofServices, reason: string): Unavailable => {
  logger.error({ reason }, 'the audit tree is damaged: see `tracebook audit verify`')
  return new ExplainedUnavailable('The audit tree of this service is damaged: tell its operator')
}

/** Reads from the stored tree. @throws Unavailable if it is damaged */
const readTree = async <T>(services: ProofServices, read: (run: RunQuery) => Promise<T>): Promise<T> => {
  const run: RunQuery = (name, text, values) => services.reads.rows(name, text, values)
  try {
    return await read(run)
  } catch (error) {
    throw error instanceof TreeDiffers ? damaged(services, error.message) : error
  }
}

/** The roots of spans of the tree, as in a proof. @throws Unavailable */
export const proofOf = (services: ProofServices, spans: readonly Span[]): Promise<string[]> =>
  readTree(services, async (run) => (await readRoots(run, spans)).map((hash) => hash.toString('base64')))

/** The hashes of a range of one level, joined. @throws Unavailable */
export const hashesOf = (services: ProofServices, range: HashRange): Promise<Buffer> =>
  readTree(services, async (run) => Buffer.concat((await readHashes(run, [range]))[0]!))

/**
 * Proves that an event is in the tree of the newest checkpoint; undefined if no checkpoint covers it yet.
 * @throws 404 if no checkpoints are served, Unavailable if the event differs from its leaf
 */
export const proveEvent = async (services: ProofServices, event: RecordedEvent): Promise<EventProof | undefined> => {
  const { size, note } = await requireCheckpoint(services)
  const leaf = await leafOfEvent(services.reads, event.id)
  if (!leaf || leaf.index >= size) return undefined
  const { index, hash } = leaf
  if (!leafHashOf(event).equals(hash)) throw damaged(services, `event ${event.id} differs from its leaf`)
  const proof = await proofOf(services, inclusionSpans(index, size))
  return { entry: entryOf(event), index, size, proof, checkpoint: note }
}
