/**
 * What one writer's thing may look like: several states as long as an answer is missing. A write that was answered holds
 * in each of them. One whose answer was lost may hold, and as it may still be under way, it may do so later than what is
 * read, or answered without a change; a change that was answered ends that, as it was decided on what was there.
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

const textOf = (state: unknown) => JSON.stringify(state) ?? 'nothing'

export const newPossible = <State>(initial: State, name: string): Possible<State> => {
  let base: readonly State[] = [initial]
  let pending: ((state: State) => State)[] = []

  const distinct = (states: readonly State[]) => [...new Map(states.map((state) => [textOf(state), state])).values()]
  const all = () =>
    pending.reduce<readonly State[]>((states, step) => distinct([...states, ...states.map(step)]), distinct(base))

  const stored = (step: (state: State) => State) => {
    const before = all()
    base = before.map(step)
    if (before.every((state, i) => textOf(state) !== textOf(base[i]))) pending = []
  }

  const seen = (fits: (state: State) => boolean, what: string) => {
    const left = all().filter(fits)
    if (left.length === 0) throw new Error(`${name} is ${what}, not ${all().map(textOf).join(' or ')}`)
    base = left
  }

  return { stored, maybe: (step) => void pending.push(step), seen, all }
}
