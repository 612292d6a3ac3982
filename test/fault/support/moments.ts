/** What is known of the service, as far as it can be set back to what was known at an earlier moment. */
export type Part = {
  /** Keeps what is known now. */
  keep(): void
  /** Goes back to what was kept, or to the beginning. */
  fallBack(): void
}

/**
 * When the data were copied, and when all that came after the copy was lost. What is known of the service then goes back
 * as well: whatever was answered before the copy holds, and nothing that was answered after it is there.
 */
export type Moments = {
  join(part: Part): void
  /** Called while the data that are copied stand still. */
  copied(): void
  /** Called between the end of the server that had the newer data, and the start of the one that has the copy. */
  lost(): void
  copies(): number
  losses(): number
}

export const newMoments = (): Moments => {
  const parts: Part[] = []
  let [copies, losses] = [0, 0]
  return {
    join: (part) => void parts.push(part),
    copied: () => {
      copies += 1
      for (const { keep } of parts) keep()
    },
    lost: () => {
      losses += 1
      for (const { fallBack } of parts) fallBack()
    },
    copies: () => copies,
    losses: () => losses,
  }
}
