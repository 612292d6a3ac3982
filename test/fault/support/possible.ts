import type { Came } from './asking.ts'
import type { Moments } from './moments.ts'

/**
 * The possible states of a value that one client writes: several while an answer is missing. A write that was answered is part of each.
 * A write whose answer was lost may be part of a state. It may still be running, so it may take effect after a read, or after an answer
 * without a change; but not after an answered change, which was decided on the state before it.
 */
export type Possible<State> = {
  /** Notes the outcome of a write: it is stored, may be stored, or is not. A write during a copy may be part of the copy. */
  came(came: Came, step: (state: State) => State): void
  /** Notes a read, which keeps only the states that it fits. @throws Error if it fits none */
  seen(fits: (state: State) => boolean, what: string): void
  all(): readonly State[]
}

const textOf = (state: unknown) => JSON.stringify(state) ?? 'nothing'

const distinct = <State>(states: readonly State[]) => [
  ...new Map(states.map((state) => [textOf(state), state])).values(),
]

/** How many of the last writes an error lists. */
const TOLD = 12

export const newPossible = <State>(initial: State, name: string, moments: Moments): Possible<State> => {
  type Step = (state: State) => State
  let base: readonly State[] = [initial]
  let pending: Step[] = []
  const trail: string[] = []
  let kept: { readonly base: readonly State[]; readonly pending: Step[] } = { base, pending: [] }

  const all = () =>
    pending.reduce<readonly State[]>((states, step) => distinct([...states, ...states.map(step)]), distinct(base))

  const stored = (step: Step) => {
    const before = all()
    base = before.map(step)
    if (before.every((state, i) => textOf(state) !== textOf(base[i]))) pending = []
  }

  const tell = (words: string) => {
    trail.push(`${new Date().toISOString().slice(14, 23)} ${words}`)
    if (trail.length > TOLD) trail.shift()
  }

  const came = (came: Came, step: Step) => {
    tell(`${came.is} ${textOf(step(base[0]!))}`)
    if (came.is === 'refused') return
    if (came.duringCopy) kept.pending.push(step)
    if (came.is === 'maybe') pending.push(step)
    else stored(step)
  }

  const seen = (fits: (state: State) => boolean, what: string) => {
    const left = all().filter(fits)
    if (left.length === 0)
      throw new Error([`${name} is ${what}, not ${all().map(textOf).join(' or ')}, after`, ...trail].join('\n'))
    tell(`seen ${what}`)
    base = left
  }

  moments.join({
    keep: () => {
      kept = { base, pending: [...pending] }
      tell('copied')
    },
    // Writes that ran in the newer data may still arrive in the older ones.
    fallBack: () => {
      tell('lost what came after the copy')
      pending = [...new Set([...kept.pending, ...pending])]
      base = kept.base
    },
  })
  return { came, seen, all }
}
