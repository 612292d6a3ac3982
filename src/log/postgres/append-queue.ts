import type { Appended, NewEvent } from '../log.ts'

const BATCH_APPENDS = 512
const BATCH_BYTES = 8 * 1024 * 1024

/** An append that has not been answered, or has been but not yet been cleared away. */
export type Waiting = {
  readonly stream: string
  readonly expected: bigint
  readonly events: readonly NewEvent[]
  readonly bytes: number
  /** Answers the append; what comes after the first answer is ignored. */
  readonly settle: (outcome: Appended | Error) => void
  settled: boolean
  /** In a statement that has not been answered. */
  inFlight: boolean
  /** An earlier statement was lost without an answer: it may have been stored. */
  unsure: boolean
}

export type Queue = {
  push(append: Waiting): void
  /** Appends to be tried again, before all others. */
  putBack(batch: readonly Waiting[]): void
  /** The next batch: at most 512 appends and 8 MiB, one per stream, none before an older one of its stream. */
  take(): Waiting[]
  hasWaiting(): boolean
}

export const newQueue = (): Queue => {
  let queue: Waiting[] = []

  const take = () => {
    const batch: Waiting[] = []
    const later: Waiting[] = []
    const streams = new Set<string>()
    let bytes = 0
    for (const append of queue) {
      if (append.settled) continue
      const room = batch.length === 0 || (batch.length < BATCH_APPENDS && bytes + append.bytes <= BATCH_BYTES)
      if (room && !streams.has(append.stream)) {
        batch.push(append)
        bytes += append.bytes
      } else later.push(append)
      streams.add(append.stream)
    }
    queue = later
    return batch
  }

  return {
    push: (append) => void queue.push(append),
    putBack: (batch) => void (queue = [...batch, ...queue]),
    take,
    hasWaiting: () => queue.some((append) => !append.settled),
  }
}
