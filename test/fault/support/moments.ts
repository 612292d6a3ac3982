/** The expected data of the service, which can be set back to those at an earlier moment. */
export type Part = {
  /** Saves what is expected now. */
  keep(): void
  /** Goes back to what was saved, or to the beginning. */
  fallBack(): void
}

/**
 * When the data were copied, and when everything after the copy was lost. The expected data go back as well: all writes that
 * were answered before the copy must exist, and none that were answered after it.
 */
export type Moments = {
  join(part: Part): void
  /** Called while the data are copied and nothing writes. */
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
