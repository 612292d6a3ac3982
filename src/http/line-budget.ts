/** How many lines the log gets of things that others can repeat as often as they like. */
export type LineBudget = {
  /** Whether one more thing of this kind, by this cause, may cost a line. What may not is counted. */
  take(kind: string, cause: string, most: number): boolean
  /** Reports what was counted and not reported yet. */
  close(): void
}

export type LineBudgetOptions = {
  /** Called at the end of a period for each kind of which more happened than there are lines. */
  readonly report: (kind: string, count: number) => void
  /** For all kinds and causes in a period. */
  readonly mostOfAll?: number
  readonly periodMs?: number
}

/** Gives each cause of each kind `most` lines in a period, a minute by default, which begins with its first line. */
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
