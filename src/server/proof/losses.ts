import { createHash } from 'node:crypto'
import type { Client } from '../../eventstore/engine/checkpoint.ts'
import { isId } from '../../base/ids.ts'

/** Leaves whose events the log has lost with its end, by the epoch in which that was noticed. */
export type Loss = {
  readonly epoch: string
  /** The indexes of the first and the last of these leaves. */
  readonly from: number
  readonly to: number
  readonly count: number
  /** SHA-256 of their hashes in the order of the leaves, in hex. */
  readonly digest: string
}

/** A loss as one word: the service logs it when it misses the events, and `audit verify --accept-lost` accepts it. */
export const lossText = ({ epoch, from, to, count, digest }: Loss): string =>
  `${epoch}:${from}-${to}:${count}:${digest}`

const TEXT = /^([0-9a-f-]{36}):(\d{1,15})-(\d{1,15}):(\d{1,15}):([0-9a-f]{64})$/

/** The loss of such a text; undefined for any other. */
export const parseLoss = (text: string): Loss | undefined => {
  const [, epoch, from, to, count, digest] = TEXT.exec(text) ?? []
  if (epoch === undefined || !isId(epoch)) return undefined
  return { epoch, from: Number(from), to: Number(to), count: Number(count), digest: digest! }
}

type LostLeaf = { readonly index: number; readonly hash: Buffer; readonly lost: string }

/** Sums up lost leaves, which have to be added in their order. */
export const newLossTally = () => {
  const epochs = new Map<string, { from: number; to: number; count: number; hash: ReturnType<typeof createHash> }>()
  return {
    add: ({ index, hash, lost }: LostLeaf): void => {
      const tally = epochs.get(lost) ?? { from: index, to: index, count: 0, hash: createHash('sha256') }
      epochs.set(lost, tally)
      tally.to = index
      tally.count += 1
      tally.hash.update(hash)
    },
    losses: (): Loss[] =>
      [...epochs].map(([epoch, { from, to, count, hash }]) => ({ epoch, from, to, count, digest: hash.digest('hex') })),
  }
}

type Row = Pick<Loss, 'epoch' | 'digest'> & { from: bigint; to: bigint; count: bigint }

const statement = `
  select lost as epoch, min(index) as "from", max(index) as "to", count(*) as count,
    encode(sha256(string_agg(hash, ''::bytea order by index)), 'hex') as digest
  from tracebook.leaves where lost is not null group by lost order by 2`

/** All losses of the log, by the leaves that are marked now. Reads every leaf. */
export const readLosses = async (client: Client): Promise<Loss[]> =>
  (await client.query<Row>(statement)).rows.map(({ from, to, count, ...row }) => ({
    ...row,
    from: Number(from),
    to: Number(to),
    count: Number(count),
  }))
