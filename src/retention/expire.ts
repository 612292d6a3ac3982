import { InQuarantine } from '../engine/rejected.ts'
import type { Transactor } from '../engine/transact.ts'
import type { Namespace } from '../namespace/decide.ts'
import type { NamespaceEvent } from '../namespace/events.ts'
import { type TraceNeed, type TraceState, removeUnchanged } from '../trace/decide.ts'
import type { TraceEvent } from '../trace/events.ts'
import { DAY_MS } from './expired-traces.ts'

export type ExpireOptions = {
  readonly namespaces: Pick<Transactor<Namespace, NamespaceEvent>, 'read'>
  readonly traces: Pick<Transactor<TraceState, TraceEvent, TraceNeed>, 'transact'>
  /** @throws Unavailable while the service takes no writes */
  readonly assertWritable: () => void
  /** The clock, in milliseconds. */
  readonly now: () => number
  /** How long the retention that was read of a namespace may be used, in milliseconds. Default: a second. */
  readonly validMs?: number
}

/** The position of the deletion; `'stays'`: the trace has changed since, is gone, or cannot be read; `'off'`: the namespace has no retention. */
export type ExpireOutcome = { readonly position: bigint } | 'stays' | 'off'

/** Retention may be switched off between reading it and storing the deletion: the deletion is stored within this time or not at all. */
const VALID_MS = 1_000

/** The number of days in the namespace's retention, from the log, because read models may lag behind it. */
const retentionDays = ({ namespaces }: ExpireOptions, id: string): Promise<number | undefined> =>
  namespaces.read(id, (state) => (state.is === 'present' ? state.retentionDays : undefined))

/**
 * Deletes a trace that has not changed for as many days as its namespace keeps traces. The event has no actor, because the
 * service itself deletes.
 * @throws Unavailable, also if the deletion was not stored in time
 */
export const expire = async (options: ExpireOptions, namespaceId: string, traceId: string): Promise<ExpireOutcome> => {
  const { traces, assertWritable, now, validMs = VALID_MS } = options
  assertWritable()
  const until = performance.now() + validMs
  const days = await retentionDays(options, namespaceId)
  if (days === undefined) return 'off'
  const { answer, position } = await traces.transact(
    traceId,
    { decide: removeUnchanged(now() - days * DAY_MS), answer: (_, events) => events.length > 0, until },
    {},
  )
  return answer ? { position } : 'stays'
}

/** Like `expire`, but leaves a stream in quarantine as it is. */
export const expireUnlessQuarantined = (
  options: ExpireOptions,
  namespaceId: string,
  traceId: string,
): Promise<ExpireOutcome> =>
  expire(options, namespaceId, traceId).catch((error: unknown) => {
    if (error instanceof InQuarantine) return 'stays'
    throw error
  })
