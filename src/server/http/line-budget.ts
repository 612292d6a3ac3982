/** Bounds the lines in the service's log about events that clients can cause at will. */
export type LineBudget = {
  /** Whether one more event of this kind and cause may get a line. Events without a line are counted. */
  take(kind: string, cause: string, most: number): boolean
  /** Reports the counts that were not reported yet. */
  close(): void
}

type LineBudgetOptions = {
  /** Called at the end of a period with the number of events without a line, for each kind that has any. */
  readonly report: (kind: string, count: number) => void
  /** The maximum number of lines for all kinds and causes in a period. Default: 1,000. */
  readonly mostOfAll?: number
  readonly periodMs?: number
}

/** Gives each cause of each kind `most` lines in a period, a minute by default, which begins with the first event. */
export const newLineBudget = ({ report, mostOfAll = 1_000, periodMs = 60_000 }: LineBudgetOptions): LineBudget => {
  const taken = new Map<string, number>()
  const leftOut = new Map<string, number>()
  let left = mostOfAll
  let timer: NodeJS.Timeout | undefined

  const endPeriod = () => {
    clearTimeout(timer)
    timer = undefined
    for (const [kind, count] of leftOut) report(kind, count)
    leftOut.clear()
    taken.clear()
    left = mostOfAll
  }

  const take = (kind: string, cause: string, most: number) => {
    timer ??= setTimeout(endPeriod, periodMs).unref()
    const key = `${kind} ${cause}`
    const count = taken.get(key) ?? 0
    if (count < most && left > 0) {
      taken.set(key, count + 1)
      left -= 1
      return true
    }
    leftOut.set(kind, (leftOut.get(kind) ?? 0) + 1)
    return false
  }

  return { take, close: endPeriod }
}
