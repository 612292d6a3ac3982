/** How many bytes may be on their way at once. */
export type Budget = {
  /** Waits until there is room for so many bytes; more than there are in all take all of them. */
  readonly take: (bytes: number) => Promise<void>
  readonly giveBack: (bytes: number) => void
}

/** A budget of `total` bytes, given out in the order in which they are asked for. */
export const newBudget = (total: number): Budget => {
  let free = total
  const waiting: { readonly bytes: number; readonly enter: () => void }[] = []
  const admit = () => {
    while (waiting.length > 0 && waiting[0]!.bytes <= free) {
      const { bytes, enter } = waiting.shift()!
      free -= bytes
      enter()
    }
  }
  return {
    take: (bytes) =>
      new Promise((enter) => {
        waiting.push({ bytes: Math.min(bytes, total), enter })
        admit()
      }),
    giveBack: (bytes) => {
      free += Math.min(bytes, total)
      admit()
    },
  }
}
