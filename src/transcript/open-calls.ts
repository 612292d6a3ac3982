/** How many calls wait for their results, together with the files that they change. */
const MOST_OPEN = 256

type Call = { readonly id: string }

/**
 * Calls without a result so far. A result is that of the oldest call with its id. `filesOf` says how many files a call changes. When there are too
 * many, the oldest do not wait any more.
 */
export const newOpenCalls = <Of extends Call>(filesOf: (call: Of) => number) => {
  const byAge = new Set<Of>()
  const byId = new Map<string, Of[]>()
  let weight = 0

  /** Takes a call; false if it is not open. */
  const take = (call: Of): boolean => {
    if (!byAge.delete(call)) return false
    const same = byId.get(call.id)!
    if (same.length === 1) byId.delete(call.id)
    else same.splice(same.indexOf(call), 1)
    weight -= 1 + filesOf(call)
    return true
  }

  /** Adds a call, and returns those that do not wait for a result any more. */
  const add = (call: Of): Of[] => {
    byAge.add(call)
    weight += 1 + filesOf(call)
    const same = byId.get(call.id)
    if (same) same.push(call)
    else byId.set(call.id, [call])
    const surplus: Of[] = []
    for (const oldest of byAge) {
      if (weight <= MOST_OPEN) break
      take(oldest)
      surplus.push(oldest)
    }
    return surplus
  }

  return { all: (): Iterable<Of> => byAge, add, oldestWith: (id: string) => byId.get(id)?.[0], take }
}
