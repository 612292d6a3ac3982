import type { Client } from '../../eventstore/engine/checkpoint.ts'
import { startLeaderProcess } from '../../eventstore/engine/leader-process.ts'
import type { OutageLog } from '../../eventstore/engine/outage.ts'
import type { Batch, EventLog } from '../../eventstore/log/log.ts'
import type { MinimalLogger } from '../../base/logger.ts'
import { pause } from '../../base/waits.ts'
import type { LeaderSession } from '../../eventstore/postgres/leader.ts'
import { type Work, beginWork, cover } from './cover.ts'
import { type EventHashing, newEventHashing } from './growth.ts'
import { type Growth, storeGrowth } from './leaves.ts'
import { lossText, readLosses } from './losses.ts'
import type { Signer } from './note.ts'
import { type SignedCheckpoint, openCheckpointWriter } from './signed-checkpoints.ts'
import { PROCESS, writeRefusal, TreeDiffers } from './stored-tree.ts'
import type { TreeHead } from './tree.ts'

/** What this node has signed. It outlives the service: a database that was put back to an older state does not have it any more. */
export type Signed = {
  /** The last checkpoint. */
  published?: TreeHead | undefined
  /** All keys with their last checkpoints; undefined if another process may have led since. */
  known?: readonly SignedCheckpoint[] | undefined
}

type TreeProcessOptions = {
  readonly url: string
  readonly log: EventLog
  /** Without a signer no checkpoint is signed, but the tree grows. */
  readonly signer: Signer | undefined
  /** Default: it has signed nothing yet. */
  readonly signed?: Signed
  /** The clock, in milliseconds. */
  readonly now: () => number
  readonly logger: Pick<MinimalLogger, 'info' | 'error'>
  readonly outage: OutageLog
}

export type TreeProcess = {
  /** How many leaves the tree has; 0 if another process writes them. */
  leaves(): number
  /** Whether the tree is not continued, because it contradicts the log, itself, or a checkpoint. */
  isRefused(): boolean
  close(): Promise<void>
}

const REFUSED_RETRY_MS = 15_000
/** The least time between two signatures. */
const SIGN_MS = 1_000
/** After a batch with fewer events the process waits, so that the next events become one batch. */
const FULL_BATCH = 500
const BATCH_DELAY_MS = 150
/** Without events the checkpoint is stored only after this many positions. */
const CHECKPOINT_POSITIONS = 5_000n

/**
 * Follows the log and writes a leaf for each event, off the write path, and signs checkpoints. One worker leads; its lock and
 * its statements share one session, and each step moves the checkpoint by compare-and-set. If the tree contradicts the log, itself
 * or a checkpoint, nothing more is written or served until that is repaired.
 */
export const startTreeProcess = (options: TreeProcessOptions): TreeProcess => {
  const { url, log, signer, signed = {}, now, logger, outage } = options
  let leaves = 0
  let refusal: string | undefined
  let lastReason = ''

  // No error of its own: a backup restored leads here, too. What is missing then, or differs, is reported below.
  const onReverify = () =>
    logger.info({}, 'the log was restored, or is another one, or has lost its end: its leaves are verified again')

  /** Losses are logged before they are stored, so that the tables can be compared with the log lines later. */
  const storeWithLosses = async (client: Client, growth: Growth): Promise<boolean> => {
    await client.query('begin')
    const isStored = await storeGrowth(client, growth)
    for (const { epoch, count, ...loss } of isStored ? await readLosses(client) : [])
      logger.error(
        { epoch, events: count, accept: lossText({ epoch, count, ...loss }) },
        'the log has lost events: `tracebook audit verify` reports them until they are accepted with --accept-lost and the text of `accept`',
      )
    await client.query('commit')
    return isStored
  }

  const isWorth = ({ position, reverification }: Work, { events, through }: Batch) =>
    events.length > 0 ||
    through - position >= CHECKPOINT_POSITIONS ||
    (reverification !== undefined && through >= reverification.until)

  const follow = async (client: Client, hashing: EventHashing, signal: AbortSignal) => {
    const work = await beginWork(client, log, hashing, onReverify)
    const { tree } = work
    leaves = tree.size()
    const checkpoints = await openCheckpointWriter({
      client,
      tree,
      signer,
      published: signed.published,
      known: signed.known,
      now,
    })
    await writeRefusal(client, undefined)
    refusal = undefined
    let signedAt = Number.NEGATIVE_INFINITY
    const sign = async () => {
      if (performance.now() - signedAt < SIGN_MS) return
      signed.known = await checkpoints.write()
      if (signer) signed.published = signed.known.at(-1)
      signedAt = performance.now()
    }
    await sign()
    for await (const batch of log.follow({ after: work.position, signal })) {
      if (isWorth(work, batch)) await cover(work, log, batch, storeWithLosses)
      leaves = tree.size()
      await sign()
      lastReason = ''
      if (batch.events.length < FULL_BATCH) await pause(BATCH_DELAY_MS, signal)
    }
  }

  /**
   * Refuses the tree until it is repaired. The process stays the leader meanwhile, because another one does not know what this one
   * has signed, and would accept the tables.
   */
  const refuse = async (client: Client, { message: reason }: TreeDiffers, signal: AbortSignal) => {
    leaves = 0
    await writeRefusal(client, reason)
    if (reason !== refusal)
      logger.error({ reason }, 'the audit tree is not continued, and erasure waits: see `tracebook audit verify`')
    refusal = reason
    await pause(REFUSED_RETRY_MS, signal)
  }

  const followUnlessRefused = async (client: Client, hashing: EventHashing, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        return await follow(client, hashing, signal)
      } catch (error) {
        if (!(error instanceof TreeDiffers)) throw error
        await refuse(client, error, signal)
      }
    }
  }

  const work = async ({ client }: LeaderSession, signal: AbortSignal) => {
    const hashing = newEventHashing()
    try {
      await followUnlessRefused(client, hashing, signal)
    } finally {
      await hashing.close()
      leaves = 0
      if (refusal === undefined) signed.known = undefined // another process may lead now
    }
  }

  const onFailure = (error: Error) => {
    if (error.message !== lastReason)
      logger.info({ reason: error.message }, 'the process of the audit tree failed and starts again')
    lastReason = error.message
  }

  const { close } = startLeaderProcess({ url, name: PROCESS, lock: 'tracebook proof', work, onFailure, outage })
  return { leaves: () => leaves, isRefused: () => refusal !== undefined, close }
}
