import type { DecodedEvent } from '../../eventstore/engine/projection.ts'
import { isDue } from '../trace/decide-summary.ts'
import type { TraceEvent } from '../trace/events.ts'

export type SummaryRule = {
  readonly threshold: number
  readonly debounceMs: number
}

/** The state of a trace in the process manager. Times are milliseconds. */
export type TrackedTrace = {
  /** The revision at which the trace begins, which identifies an incarnation of the trace. */
  readonly incarnation: bigint
  readonly messageCount: number
  /** How many messages the trace had at its last summary; undefined without one. */
  readonly summarised: number | undefined
  /** Set if messages make a summary due. Removed with the summary, or by a job that has failed for the last time or found nothing due. */
  readonly timer: { readonly since: number; readonly runAt: number } | undefined
}

/** A change of a trace's timer. A new time replaces the old one. */
export type TimerChange = { readonly is: 'set'; readonly runAt: number } | { readonly is: 'cancel' }

type Reaction = { readonly state: TrackedTrace | undefined; readonly timer?: TimerChange }

const MAX_DEBOUNCES = 10

const relevant = ['TraceCreated', 'MessagesCounted', 'TraceSummarised', 'TraceDeleted', 'HistoryErased'] as const

/** The events that a summary depends on. */
export type SummaryEvent = Extract<TraceEvent, { type: (typeof relevant)[number] }>
export const isRelevant = (type: string): boolean => (relevant as readonly string[]).includes(type)

type Fact = SummaryEvent & Pick<DecodedEvent, 'revision' | 'at'>

const setTimer = (state: TrackedTrace, since: number, runAt: number): Reaction => ({
  state: { ...state, timer: { since, runAt } },
  timer: { is: 'set', runAt },
})

/**
 * The next state and the timer after an event. If a summary is due after new messages, the timer is set to one debounce after them, but
 * at most ten debounces after the first of them.
 */
export const react = (
  state: TrackedTrace | undefined,
  event: Fact,
  { threshold, debounceMs }: SummaryRule,
): Reaction => {
  const { at } = event
  switch (event.type) {
    case 'TraceCreated':
      return { state: { incarnation: event.revision, messageCount: 0, summarised: undefined, timer: undefined } }
    case 'TraceDeleted':
      return { state: undefined, timer: { is: 'cancel' } }
    case 'HistoryErased': {
      const { since, messageCount } = event.data
      const anew = { incarnation: BigInt(since), messageCount, summarised: undefined, timer: undefined }
      return messageCount === 0 ? { state: anew, timer: { is: 'cancel' } } : setTimer(anew, at, at + debounceMs)
    }
    case 'MessagesCounted': {
      const { messageCount } = event.data
      if (!state || state.messageCount === messageCount) return { state }
      const counted = { ...state, messageCount }
      if (!isDue(messageCount, state.summarised, threshold)) return { state: counted }
      const since = state.timer?.since ?? at
      return setTimer(counted, since, Math.min(at + debounceMs, since + MAX_DEBOUNCES * debounceMs))
    }
    case 'TraceSummarised': {
      if (!state) return { state }
      const summarised = { ...state, summarised: event.data.messageCount }
      if (!isDue(state.messageCount, summarised.summarised, threshold))
        return { state: { ...summarised, timer: undefined }, timer: { is: 'cancel' } }
      return setTimer(summarised, at, state.timer?.runAt ?? at + debounceMs)
    }
  }
}
