/**
 * The progress from one position of a log to another, in whole percent, for messages. Positions themselves say little to
 * people: in EventStoreDB they are offsets in bytes, which count other applications' events, too.
 */
export const percentDone = (from: bigint, at: bigint, to: bigint): number => {
  if (at >= to) return 100
  return at <= from ? 0 : Number(((at - from) * 100n) / (to - from))
}
