/**
 * How much of the way between two positions of a log is done, in whole percent. Positions themselves say little: in
 * EventStoreDB they are bytes, of everything that is on the server.
 */
export const percentDone = (from: bigint, at: bigint, to: bigint): number => {
  if (at >= to) return 100
  return at <= from ? 0 : Number(((at - from) * 100n) / (to - from))
}
