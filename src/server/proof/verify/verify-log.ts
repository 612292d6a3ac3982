import { closeConnection } from '../../../eventstore/postgres/connect.ts'
import { type Loss, lossText, newLossTally } from '../losses.ts'
import type { TreeHead } from '../tree.ts'
import { newComparison } from './comparison.ts'
import type { Report } from './findings.ts'
import type { EventSource } from './hashed-event.ts'
import { findLeaves, readLeaves, type StoredLeaf } from './leaf-rows.ts'
import { newLeafWindow } from './leaf-window.ts'
import { reportMissing } from './missing-events.ts'
import { openReadOnly } from './postgres-events.ts'
import { checkSigned, checkSubtrees, type Claims, type ExpectedRoot, newTreeCheck, readClaims } from './tree-check.ts'

/**
 * Reports the events that the log has lost. Only exactly the loss that the service has logged for an epoch can be accepted: a leaf that
 * is marked in addition, or not any more, is a finding. Leaves have to be added in their order, each once.
 */
const newLossCheck = (accepted: readonly Loss[], report: Report) => {
  const tally = newLossTally()
  const rangesOf = Map.groupBy(accepted, ({ epoch }) => epoch)

  const add = ({ index, stream, revision, id, hash, lost }: StoredLeaf): void => {
    if (lost === undefined) return
    tally.add({ index, hash, lost })
    const isAccepted = (rangesOf.get(lost) ?? []).some(({ from, to }) => index >= from && index <= to)
    const detail = `the log lost it before epoch ${lost}`
    report({
      kind: 'lost',
      stream,
      revision,
      id,
      leaf: index,
      epoch: lost,
      detail,
      ...(isAccepted ? { isAccepted } : {}),
    })
  }

  /** Returns the losses of epochs without an accepted loss. */
  const finish = (): Loss[] => {
    const found = tally.losses()
    for (const loss of found) {
      const known = rangesOf.get(loss.epoch)
      if (!known || known.some((one) => lossText(one) === lossText(loss))) continue
      const detail = `the leaves that are marked as lost are not those that were accepted, but ${lossText(loss)}`
      report({ kind: 'lost', epoch: loss.epoch, detail })
    }
    return found.filter(({ epoch }) => !rangesOf.has(epoch))
  }

  return { add, finish }
}

/** The keys that belong to the log, as far as they are known from outside of its database. */
export type TrustedKeys = {
  /** Whether the newest checkpoint may be signed by this key. */
  isCurrent(key: string): boolean
  /** Whether it may have signed before. */
  isFormer(key: string): boolean
}

export type VerifyOptions = {
  /** The database with the leaves. */
  readonly url: string
  readonly events: EventSource
  /** A checkpoint that was kept elsewhere, which the leaves must lead to. */
  readonly kept?: (TreeHead & { readonly key: string }) | undefined
  /** Default: any key may have signed. */
  readonly keys?: TrustedKeys | undefined
  /** The losses of the log that the operator accepts. */
  readonly acceptedLosses?: readonly Loss[]
  readonly report: Report
  /** Called repeatedly with the number of events that were compared. */
  readonly progress?: (done: number, of: number) => void
}

export type VerifyResult = {
  readonly events: number
  readonly leaves: number
  /** The last stored checkpoint; undefined if there is none. */
  readonly checkpoint: Claims['signed'][number] | undefined
  /** The keys that have signed, the oldest first. */
  readonly keys: readonly string[]
  /** The losses in epochs without an accepted loss. */
  readonly losses: readonly Loss[]
}

const keptRoot = (kept: TreeHead | undefined, report: Report): ExpectedRoot[] => {
  const fail = (detail: string) =>
    report({
      kind: 'checkpoint',
      detail: `the log has forked: it does not continue the kept checkpoint of size ${kept!.size}: ${detail}`,
    })
  return kept ? [{ ...kept, report: fail }] : []
}

/** Checks who has signed: an attacker who has changed the log may have signed it with another key, whose signatures prove nothing. */
const checkKeys = ({ signed }: Claims, { keys, report }: Pick<VerifyOptions, 'keys' | 'report'>) => {
  if (!keys) return
  const fail = (detail: string) => report({ kind: 'checkpoint', detail })
  const newest = signed.at(-1)
  if (!newest) return fail('none is stored, but the key of the log is known')
  if (!keys.isCurrent(newest.key))
    fail(
      `the newest one is signed by another key than that of the log: ${newest.key}. Accept it as its successor with --accept-key`,
    )
  for (const { key, size } of signed.slice(0, -1))
    if (!keys.isFormer(key))
      fail(`the key that signed up to size ${size} is unknown: ${key}. Accept it as a former key with --accept-key`)
}

const checkKept = ({ signed }: Claims, { kept, report }: Pick<VerifyOptions, 'kept' | 'report'>) => {
  const newest = signed.at(-1)
  if (kept && !signed.some((one) => one.key === kept.key))
    report({ kind: 'checkpoint', detail: `the key that signed the kept checkpoint is not in the history: ${kept.key}` })
  if (!kept || (newest && newest.size >= kept.size)) return
  report({
    kind: 'checkpoint',
    detail: newest
      ? `the log has lost its end, for example by a restored backup: the newest one has size ${newest.size}, but the kept one has size ${kept.size}`
      : `none is stored, but the kept one has size ${kept.size}`,
  })
}

const checkHead = async ({ covered }: Claims, events: EventSource, report: Report) => {
  const end = await events.head()
  if (covered > end)
    report({
      kind: 'tree',
      detail: `the table says that events are covered up to position ${covered}, but the log ends at ${end}`,
    })
}

/**
 * Compares the whole log with its leaves, the leaves with the tree, and the tree with signed and kept checkpoints. Calls `report` with
 * each finding. Memory does not grow with the log, but with the findings.
 * @throws CannotVerify
 */
export const verifyLog = async (options: VerifyOptions): Promise<VerifyResult> => {
  const { url, events, kept, acceptedLosses = [], report, progress } = options
  const [client, lookUps] = [await openReadOnly(url), await openReadOnly(url)]
  try {
    const claims = await readClaims(lookUps, await events.logId())
    const { size, covered, signed } = claims
    checkKeys(claims, options)
    checkKept(claims, options)
    await checkHead(claims, events, report)
    const tree = newTreeCheck([...checkSigned(signed, report), ...keptRoot(kept, report)], report)
    const losses = newLossCheck(acceptedLosses, report)
    const leaves = newLeafWindow(readLeaves(client, await countLeaves(lookUps, size)), (leaf) => {
      tree.add(leaf)
      losses.add(leaf)
    })
    const { compare, finish } = newComparison({
      leaves,
      covered,
      findLeaves: (id) => findLeaves(lookUps, id, size),
      report,
    })
    let count = 0
    for await (const batch of events.events(covered)) {
      for (const event of batch) {
        const waits = compare(event)
        if (waits) await waits
      }
      count += batch.length
      progress?.(count, size)
    }
    const streams = await finish()
    await checkSubtrees(lookUps, { built: tree.finish(claims), size, report })
    await reportMissing(lookUps, events, { streams, size, covered, report })
    return {
      events: count,
      leaves: size,
      checkpoint: signed.at(-1),
      keys: signed.map(({ key }) => key),
      losses: losses.finish(),
    }
  } finally {
    await Promise.all([closeConnection(client), closeConnection(lookUps)])
  }
}

/** How many leaves are read: all of the tree, and those beyond its size, but none that is written meanwhile. */
const countLeaves = async (client: Awaited<ReturnType<typeof openReadOnly>>, size: number): Promise<number> => {
  const text = `
    select greatest($1, (select coalesce(max(index), -1) + 1 from tracebook.leaves
      where (select size from tracebook.tree) = $1)) as count`
  return Number((await client.query<{ count: bigint }>(text, [size])).rows[0]!.count)
}
