import { UsageError } from '../../cli/exit.ts'
import { isId, namespaceId, traceId } from '../../base/ids.ts'
import type { Scope } from '../../eventstore/log/export/format.ts'
import type { EventLog, RecordedEvent } from '../../eventstore/log/log.ts'
import { normalizeSlug } from '../../server/namespace/slug.ts'
import { FIRST_TYPES } from '../../server/trace/events.ts'

type ScopeOptions = { readonly namespace?: string; readonly trace?: string }

/** The events that the options select. @throws UsageError for an invalid slug, or an externalId without its namespace */
export const scopeOf = ({ namespace, trace }: ScopeOptions): Scope => {
  const slug = namespace === undefined ? undefined : normalizeSlug(namespace)
  if (namespace !== undefined && slug === undefined)
    throw new UsageError(
      `"${namespace}" is not a valid slug of a namespace: expected 1 to 64 letters a-z, digits and single hyphens.`,
    )
  if (trace !== undefined && slug !== undefined) return { is: 'trace', id: traceId(namespaceId(slug), trace) }
  if (trace !== undefined) {
    if (!isId(trace)) throw new UsageError('--trace takes the id of a trace, or with --namespace its externalId.')
    return { is: 'trace', id: trace }
  }
  return slug === undefined ? { is: 'log' } : { is: 'namespace', id: namespaceId(slug), slug }
}

/** The namespace in the first event of a trace. */
const namespaceIn = ({ type, data }: RecordedEvent): unknown =>
  FIRST_TYPES.has(type) ? (JSON.parse(data) as { namespaceId?: unknown }).namespaceId : undefined

/** Whether an event is in the scope; called in the order of the log. `isKnown`: whether an earlier run has found a trace. */
const newFilter = (scope: Scope, isKnown: (stream: string) => boolean) => {
  if (scope.is !== 'namespace') return () => true
  const traces = new Set<string>()
  return (event: RecordedEvent) => {
    const { stream } = event
    if (!stream.startsWith('trace-')) return stream === `namespace-${scope.id}`
    if (traces.has(stream) || isKnown(stream)) return true
    if (namespaceIn(event) !== scope.id) return false
    traces.add(stream)
    return true
  }
}

type ScopedRead = {
  readonly scope: Scope
  /** By stream, the revision before which all events are left out, because they were deleted and are not erased yet. */
  readonly deleted: ReadonlyMap<string, bigint>
  /** The last position to read. */
  readonly through: bigint
  /** The last event of an earlier run, after which this one continues, and its streams. */
  readonly after?: RecordedEvent | undefined
  readonly isKnown?: (stream: string) => boolean
}

/** The events of a scope in the order of the log. */
export async function* readScope(log: EventLog, options: ScopedRead): AsyncGenerator<RecordedEvent> {
  const { scope, deleted, through, after, isKnown = () => false } = options
  const isInScope = newFilter(scope, isKnown)
  const start = after?.position ?? 0n
  const events =
    scope.is === 'trace'
      ? log.read(`trace-${scope.id}`, after ? { from: after.revision + 1n } : {})
      : log.readAll({ after: start })
  for await (const event of events) {
    if (event.position > through) return
    if (event.position <= start || !isInScope(event)) continue
    if (event.revision >= (deleted.get(event.stream) ?? 0n)) yield event
  }
}
