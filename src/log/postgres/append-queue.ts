import type { PendingAppend } from './pending-append.ts'

const BATCH_APPENDS = 512
const BATCH_BYTES = 8 * 1024 * 1024 // a character counts as one byte

/** The waiting appends. The next `take` removes those that have been answered meanwhile. */
export type AppendQueue = {
  push(append: PendingAppend): void
  /** Puts appends that have to be tried again before all others. */
  putBack(batch: readonly PendingAppend[]): void
  /** The next batch: at most 512 appends and 8 MiB, and only the oldest one of each stream. An append with `until` is alone. */
  take(): PendingAppend[]
  hasWaiting(): boolean
}

export const newAppendQueue = (): AppendQueue => {
  let pending: PendingAppend[] = []

  const take = () => {
    const batch: PendingAppend[] = []
    const later: PendingAppend[] = []
    const streams = new Set<string>()
    let bytes = 0
    for (const append of pending) {
      if (append.isSettled()) continue
      const isAlone = (append.until ?? batch[0]?.until) !== undefined
      const isSmallEnough = !isAlone && batch.length < BATCH_APPENDS && bytes + append.bytes <= BATCH_BYTES
      const fits = batch.length === 0 || isSmallEnough
      if (fits && !streams.has(append.stream)) {
        batch.push(append)
        bytes += append.bytes
      } else later.push(append)
      streams.add(append.stream)
    }
    pending = later
    return batch
  }

  return {
    push: (append) => void pending.push(append),
    putBack: (batch) => void (pending = [...batch, ...pending]),
    take,
    hasWaiting: () => pending.some((append) => !append.isSettled()),
  }
}
