/** What was left out of a session as it was written for an agent, or put in, and how often. */
export type Amount = { readonly what: string; readonly count: number }

/** Counts what a writer leaves out and puts in. */
export const newTally = () => {
  const [leftOut, putIn] = [new Map<string, number>(), new Map<string, number>()]
  const add = (counts: Map<string, number>, what: string, count: number): void =>
    void counts.set(what, (counts.get(what) ?? 0) + count)
  const amounts = (counts: ReadonlyMap<string, number>): readonly Amount[] =>
    [...counts].map(([what, count]) => ({ what, count }))
  return {
    leaveOut: (what: string, count = 1): void => add(leftOut, what, count),
    putIn: (what: string, count = 1): void => add(putIn, what, count),
    /** How many messages are written, each with at least a part of it. */
    messages: 0,
    amounts: () => ({ leftOut: amounts(leftOut), putIn: amounts(putIn) }),
  }
}
export type Tally = ReturnType<typeof newTally>
