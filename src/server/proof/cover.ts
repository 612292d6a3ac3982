import { type Client, anchorOf } from '../../eventstore/engine/checkpoint.ts'
import type { Batch, EventLog } from '../../eventstore/log/log.ts'
import { type EventHashing, growBy, reverify } from './growth.ts'
import { type Growth, readCandidates, storeGrowth } from './leaves.ts'
import { resume } from './resume.ts'
import { type Reverification, readGrowingTree } from './stored-tree.ts'
import type { GrowingTree } from './tree.ts'

/** A tree that is being written on one database session, and the position of the log that it has reached. */
export type Work = {
  readonly client: Client
  readonly tree: GrowingTree
  readonly epoch: string
  readonly hashing: EventHashing
  position: bigint
  reverification: Reverification | undefined
}

/** Resumes the stored tree. `onReverify` is called if its leaves have to be verified again. @throws TreeDiffers */
export const beginWork = async (
  client: Client,
  log: EventLog,
  hashing: EventHashing,
  onReverify: () => void = () => {},
): Promise<Work> => {
  const identity = await log.identity()
  const { position, stored } = await resume(client, log, identity, onReverify)
  const tree = await readGrowingTree(client, stored.size)
  return { client, tree, epoch: identity.epoch, hashing, position, reverification: stored.reverification }
}

const growthOf = async (
  { client, tree, epoch, hashing, position, reverification }: Work,
  { events, through }: Batch,
): Promise<Growth> => {
  const step = { from: position, through, epoch, anchor: anchorOf(events) }
  const hashed = await hashing.hash(events)
  if (!reverification) return growBy(tree, hashed, step)
  const ids = events.map(({ id }) => id)
  return reverify(tree, hashed, { reverification, candidates: await readCandidates(client, ids, reverification), step })
}

/**
 * Gives the events of a batch their leaves, or finds the leaves that they have. `storeReverified` stores the end of a re-verification, which may
 * mark leaves as lost.
 * @throws TreeDiffers, LogChanged, Error if another process writes the tree
 */
export const cover = async (
  work: Work,
  log: Pick<EventLog, 'identity'>,
  batch: Batch,
  storeReverified: typeof storeGrowth = storeGrowth,
): Promise<void> => {
  await log.identity() // throws LogChanged if it is not what it was
  const growth = await growthOf(work, batch)
  const store = growth.lost ? storeReverified : storeGrowth
  if (!(await store(work.client, growth))) throw new Error('another process has moved the checkpoint of the leaves')
  work.position = batch.through
  work.reverification = growth.reverification
}
