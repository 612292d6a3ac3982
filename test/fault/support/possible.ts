/**
 * What one writer's thing may look like: several states as long as an answer is missing. A write that was answered holds
 * in each of them, one whose answer was lost may hold; what is read tells which of them it is.
 */
export type Possible<State> = {
  /** The write was answered: it holds. */
  stored(step: (state: State) => State): void
  /** Nobody knows whether the write holds. */
  maybe(step: (state: State) => State): void
  /** Something was seen that fits some of the states only. @throws Error when it fits none */
  seen(fits: (state: State) => boolean, what: string): void
  all(): readonly State[]
}

export const newPossible = <State>(initial: State, name: string): Possible<State> => {
  let states = new Map([[JSON.stringify(initial), initial]])
  const put = (list: readonly State[]) => {
    states = new Map(list.map((state) => [JSON.stringify(state), state]))
  }
  const all = () => [...states.values()]
  return {
    stored: (step) => put(all().map(step)),
    maybe: (step) => put([...all(), ...all().map(step)]),
    seen: (fits, what) => {
      const left = all().filter(fits)
      if (left.length === 0) throw new Error(`${name} is ${what}, not ${[...states.keys()].join(' or ')}`)
      put(left)
    },
    all,
  }
}
