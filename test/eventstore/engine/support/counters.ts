import { z } from 'zod'
import { formatsOf, newCodec } from '../../../../src/eventstore/engine/codec.ts'
import { foldSource } from '../../../../src/eventstore/engine/fold.ts'
import { Rejected } from '../../../../src/eventstore/engine/rejected.ts'
import { type StreamKind, event } from '../../../../src/eventstore/engine/stream.ts'
import type { StateSource } from '../../../../src/eventstore/engine/load-state.ts'
import { type TransactorOptions, newTransactor } from '../../../../src/eventstore/engine/transact.ts'
import type { EventLog } from '../../../../src/eventstore/log/log.ts'

export const CounterEvent = z.discriminatedUnion('type', [event('Counted', { by: z.int(), note: z.string() })])
export type CounterEvent = z.infer<typeof CounterEvent>

/** The sum of all counts, and the time of the last one. */
export type Counter = { readonly total: number; readonly at: number }

/** A kind of stream whose state is only a sum. */
export const counters: StreamKind<Counter, CounterEvent> = {
  category: 'counter',
  events: CounterEvent,
  initial: () => ({ total: 0, at: 0 }),
  evolve: ({ total }, { data }, { at }) => ({ total: total + data.by, at }),
  sizeOf: () => 100,
}

export const codec = newCodec(formatsOf(CounterEvent))

const counted = (by: number, note = ''): CounterEvent => ({ type: 'Counted', data: { by, note } })
const answer = ({ total }: Counter) => total

/** Counts; refuses to go beyond `most`. */
export const count = (by = 1, { most = Number.MAX_SAFE_INTEGER, note = '' } = {}) => ({
  decide: ({ total }: Counter) => {
    if (total + by > most) throw new Rejected('forbidden')
    return [counted(by, note)]
  },
  answer,
})

/** Counts up to a number, and gives no event once that is reached. */
export const reach = (goal: number) => ({
  decide: ({ total }: Counter) => (total >= goal ? [] : [counted(goal - total)]),
  answer,
})

/** The same sum in a mutable state, as `evolve` may use it. For an event with the note `bad` it throws after it has added it. */
const totals: StreamKind<Counter, CounterEvent> = {
  ...counters,
  initial: () => ({ total: 0, at: 0 }),
  evolve: (state, { data }, { at }) => {
    Object.assign(state, { total: state.total + data.by, at })
    if (data.note === 'bad') throw new Error('bad')
    return state
  },
  draft: (state) => ({ ...state }),
}

/** A node's transactor of sums in mutable states. */
export const newTotals = (log: EventLog) =>
  newTransactor({ kind: totals, source: foldSource(totals, log, codec), log, codec, now: Date.now })

type Options = Partial<TransactorOptions<Counter, CounterEvent, void>>

/** A node's transactor of counters on a log. */
export const newCounters = (log: EventLog, options: Options = {}) => {
  const source: StateSource<Counter, void> = foldSource(counters, log, codec)
  return newTransactor<Counter, CounterEvent>({ kind: counters, source, log, codec, now: Date.now, ...options })
}
