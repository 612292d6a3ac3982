/** Work that is repeated until it is stopped. */
export type Loop = {
  start(): void
  /** Stops after the current turn. Rejects with the error of a turn that failed. */
  stop(): Promise<void>
  /** How many turns have ended since the first start. */
  turns(): number
  /** The error of a turn that failed. */
  failure(): Error | undefined
}

export const newLoop = (turn: () => Promise<unknown>, pauseMs: () => number): Loop => {
  let [wanted, turns] = [false, 0]
  let failure: Error | undefined
  let running = Promise.resolve()

  const run = async () => {
    while (wanted && !failure) {
      await turn()
      turns += 1
      await new Promise((resolve) => setTimeout(resolve, pauseMs()))
    }
  }
  return {
    start: () => {
      wanted = true
      running = run().catch((error: Error) => void (failure = error))
    },
    stop: async () => {
      wanted = false
      await running
      if (failure) throw failure
    },
    turns: () => turns,
    failure: () => failure,
  }
}
