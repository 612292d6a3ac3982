import type { EventProof } from '../../contract/proof.ts'
import { ExplainedUnavailable, type Unavailable } from '../../eventstore/engine/rejected.ts'
import { notFound } from '../http/http-error.ts'
import type { RecordedEvent } from '../../eventstore/log/log.ts'
import { pause } from '../../base/waits.ts'
import { entryOf, leafHashOf } from './entry.ts'
import { notCovered } from './not-covered.ts'
import { leavesOfEvents, servedCheckpoint } from './queries.ts'
import type { ProofServices } from './services.ts'
import type { SignedCheckpoint } from './signed-checkpoints.ts'
import { type RunQuery, readHashes, readRoots, TreeDiffers } from './stored-tree.ts'
import { type HashRange, type Span, inclusionSpans } from './tree.ts'

/** How often a request looks for the first checkpoint of a new service. */
const LOOK_MS = 100

/** The newest checkpoint. Waits for the first one of a new service. @throws 404 if none is served, or none is there yet: with `Retry-After` */
export const requireCheckpoint = async ({ reads, checkpoints }: ProofServices): Promise<SignedCheckpoint> => {
  if (!checkpoints.areServed) throw notFound()
  for (;;) {
    const found = await servedCheckpoint(reads)
    if (found) return found
    if (performance.now() > checkpoints.waitUntil) throw notCovered()
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

/** The inclusion proofs of leaves in the tree of a size. Neighbours share most of their hashes, which are read once. @throws Unavailable */
const inclusionProofs = async (services: ProofServices, indexes: readonly number[], size: number) => {
  const keyOf = ({ from, to }: Span) => `${from} ${to}`
  const proofs = indexes.map((index) => inclusionSpans(index, size))
  const spans = new Map(proofs.flat().map((span) => [keyOf(span), span]))
  const roots = await proofOf(services, [...spans.values()])
  const found = new Map([...spans.keys()].map((key, i) => [key, roots[i]!]))
  return proofs.map((proof) => proof.map((span) => found.get(keyOf(span))!))
}

/** An event with its proof in the tree of some size. */
export type ProvenEvent = Pick<EventProof, 'entry' | 'index' | 'proof'>

/**
 * Proves that events are in the tree of a size, in their order; undefined if that does not cover all of them. Reads up to 255 hashes of each level of
 * the tree for each event. @throws Unavailable if an event differs from its leaf
 */
export const proveEvents = async (
  services: ProofServices,
  events: readonly RecordedEvent[],
  size: number,
): Promise<ProvenEvent[] | undefined> => {
  const ids = events.map(({ id }) => id)
  const leaves = await leavesOfEvents(services.reads, ids)
  const covered = ids.flatMap((id) => leaves.get(id) ?? []).filter(({ index }) => index < size)
  if (covered.length < events.length) return undefined
  const other = events.find((event, i) => !leafHashOf(event).equals(covered[i]!.hash))
  if (other) throw damaged(services, `event ${other.id} differs from its leaf`)
  const indexes = covered.map(({ index }) => index)
  const proofs = await inclusionProofs(services, indexes, size)
  return events.map((event, i) => ({ entry: entryOf(event), index: indexes[i]!, proof: proofs[i]! }))
}

/**
 * Proves that an event is in the tree of the newest checkpoint.
 * @throws 404 if no checkpoint is served or covers it yet, Unavailable if the event differs from its leaf
 */
export const proveEvent = async (services: ProofServices, event: RecordedEvent): Promise<EventProof> => {
  const { size, note } = await requireCheckpoint(services)
  const [proven] = (await proveEvents(services, [event], size)) ?? []
  if (!proven) throw notCovered()
  return { ...proven, size, checkpoint: note }
}
