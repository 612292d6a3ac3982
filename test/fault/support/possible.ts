import type { Came } from './asking.ts'
import type { Moments } from './moments.ts'

/**
 * What one writer's thing may look like: several states as long as an answer is missing. A write that was answered holds
 * in each of them. One whose answer was lost may hold, and as it may still be under way, it may do so later than what is
 * read, or answered without a change; a change that was answered ends that, as it was decided on what was there.
 */
export type Possible<State> = {
  /** What a write came to: it holds, may hold, or does not. One that was under way during a copy may be in the copy. */
  came(came: Came, step: (state: State) => State): void
  /** Something was seen that fits some of the states only. @throws Error when it fits none */
  seen(fits: (state: State) => boolean, what: string): void
  all(): readonly State[]
}

const textOf = (state: unknown) => JSON.stringify(state) ?? 'nothing'

const distinct = <State>(states: readonly State[]) => [
  ...new Map(states.map((state) => [textOf(state), state])).values(),
]

/** How much of what came before is told of something that is wrong. */
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
    // What was under way in the newer data may still come, into the older ones.
    fallBack: () => {
      tell('lost what came after the copy')
      pending = [...new Set([...kept.pending, ...pending])]
      base = kept.base
    },
  })
  return { came, seen, all }
}
