/**
 * The progress from one position of a log to another, in whole percent, for messages. Positions themselves say little to
 * people: in EventStoreDB they are offsets in bytes, which count other applications' events, too.
 */
export const percentDone = (from: bigint, position: bigint, to: bigint): number => {
  if (position >= to) return 100
  return position <= from ? 0 : Number(((position - from) * 100n) / (to - from))
}
