import { type Client, anchorOf } from '../engine/checkpoint.ts'
import { type Batch, type EventLog, LogChanged } from '../log/log.ts'
import { growBy, hashEvents, walkOver } from './growth.ts'
import { type Growth, readCandidates, storeGrowth } from './leaves.ts'
import { resume } from './resume.ts'
import { type Walk, readGrowingTree } from './stored-tree.ts'
import type { GrowingTree } from './tree.ts'

/** A tree that is being written on one session, and how far that has come. */
export type Work = {
  readonly client: Client
  readonly tree: GrowingTree
  readonly epoch: string
  position: bigint
  walk: Walk | undefined
}

/** Takes the stored tree up where it was left; `onWalk` is called where its leaves have to be matched with the log. @throws TreeDiffers */
export const beginWork = async (client: Client, log: EventLog, onWalk: () => void): Promise<Work> => {
  const identity = await log.identity()
  const { position, stored } = await resume(client, log, identity, onWalk)
  const tree = await readGrowingTree(client, stored.size)
  return { client, tree, epoch: identity.epoch, position, walk: stored.walk }
}

const growthOf = async ({ client, tree, epoch, position, walk }: Work, { events, through }: Batch): Promise<Growth> => {
  const step = { from: position, through, epoch, anchor: anchorOf(events) }
  const hashed = await hashEvents(events)
  if (!walk) return growBy(tree, hashed, step)
  const ids = events.map(({ id }) => id)
  return walkOver(tree, hashed, { walk, candidates: await readCandidates(client, ids, walk), step })
}

/**
 * Gives the events of a batch their leaves, or finds those that they have. `storeWalked` stores the end of a walk, which may call
 * leaves lost.
 * @throws TreeDiffers, LogChanged, Error where another process writes the tree
 */
export const cover = async (
  work: Work,
  log: Pick<EventLog, 'identity'>,
  batch: Batch,
  storeWalked: typeof storeGrowth = storeGrowth,
): Promise<void> => {
  if ((await log.identity()).epoch !== work.epoch) throw new LogChanged()
  const growth = await growthOf(work, batch)
  const store = growth.lost ? storeWalked : storeGrowth
  if (!(await store(work.client, growth))) throw new Error('another process has moved the checkpoint of the leaves')
  work.position = batch.through
  work.walk = growth.walk
}
