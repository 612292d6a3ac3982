import type { DecodedEvent } from '../engine/projection.ts'
import { isDue } from '../trace/decide-summary.ts'
import type { TraceEvent } from '../trace/events.ts'

export type Rule = {
  readonly threshold: number
  readonly debounceMs: number
}

/** What the process knows of a trace. Times are milliseconds. */
export type Tracked = {
  /** The revision of the trace's first event: tells one life of an externalId from the next. */
  readonly incarnation: bigint
  readonly messageCount: number
  /** How many messages the last summary was about; undefined without one. */
  readonly summarised: number | undefined
  /** Set from the first count event that made a summary due until the summary, or the last failure. */
  readonly timer: { readonly since: number; readonly runAt: number } | undefined
}

/** What is to be done about a trace's timer; a new time replaces the old one. */
export type TimerChange = { readonly is: 'set'; readonly runAt: number } | { readonly is: 'cancel' }

export type Reaction = { readonly state: Tracked | undefined; readonly timer?: TimerChange }

const MAX_DEBOUNCES = 10

const relevant = ['TraceCreated', 'MessagesCounted', 'TraceSummarised', 'TraceDeleted'] as const

/** The events that a summary depends on. */
export type SummaryEvent = Extract<TraceEvent, { type: (typeof relevant)[number] }>
export const isRelevant = (type: string): boolean => (relevant as readonly string[]).includes(type)

type Fact = SummaryEvent & Pick<DecodedEvent, 'revision' | 'at'>

const setTimer = (state: Tracked, since: number, runAt: number): Reaction => ({
  state: { ...state, timer: { since, runAt } },
  timer: { is: 'set', runAt },
})

/**
 * What an event means for a trace's summary: a count event that makes or keeps one due sets the timer one debounce
 * further, at most ten in all.
 */
export const react = (state: Tracked | undefined, event: Fact, { threshold, debounceMs }: Rule): Reaction => {
  const { at } = event
  switch (event.type) {
    case 'TraceCreated':
      return { state: { incarnation: event.revision, messageCount: 0, summarised: undefined, timer: undefined } }
    case 'TraceDeleted':
      return { state: undefined, timer: { is: 'cancel' } }
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
