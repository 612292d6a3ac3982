import type { WriteStatement } from '../src/eventstore/engine/projection.ts'
import { int4s, uuids } from '../src/eventstore/postgres/arrays.ts'
import type { CallPlace } from '../src/server/trace/shape.ts'
import { tableOf } from '../src/tables/table.ts'
import { failedCallsTable } from '../src/tables/usage.ts'

/** Calls that may have failed before and not any more: those of the messages from an ordinal on, and some of earlier messages. */
export type Reconsidered = { readonly from: number; readonly earlier: readonly CallPlace[] }

/** The calls of a trace that a batch finds to have failed. Without `reconsidered` none that had failed before can have a result now. */
export type Failures = {
  readonly id: string
  readonly failed: readonly CallPlace[]
  readonly reconsidered: Reconsidered | undefined
}

type Failed = { readonly traceId: string; readonly call: CallPlace }

const { namespace_id: _, ...own } = failedCallsTable.columns
const rows = tableOf('failed_calls', own).unnest<Failed>({
  trace_id: ({ traceId }) => traceId,
  slot: ({ call }) => call.slot,
  ordinal: ({ call }) => call.ordinal,
  nth: ({ call }) => call.nth,
  tool: ({ call }) => JSON.stringify(call.tool),
})

const insertStatement = `
  insert into failed_calls (namespace_id, ${rows.columns})
  select t.namespace_id, u.* from ${rows.as('u')}
  cross join lateral (select r.namespace_id from traces r where r.id = u.trace_id limit 1) t
  on conflict do nothing`

const placed = (failures: readonly Failures[], of: (one: Failures) => readonly CallPlace[]): Failed[] =>
  failures.flatMap((one) => of(one).map((call) => ({ traceId: one.id, call })))

const remove = (failures: readonly Failures[], write: WriteStatement) => {
  const again = failures.filter(({ reconsidered }) => reconsidered)
  if (again.length === 0) return
  write(
    'failed-calls-remove',
    `delete from failed_calls c using unnest($1::uuid[], $2::int4[]) u (trace_id, ordinal)
     where c.trace_id = u.trace_id and c.ordinal >= u.ordinal`,
    [uuids(again.map(({ id }) => id)), int4s(again.map(({ reconsidered }) => reconsidered!.from))],
  )
  const earlier = placed(again, ({ reconsidered }) => reconsidered!.earlier)
  if (earlier.length === 0) return
  write(
    'failed-calls-remove-earlier',
    `delete from failed_calls c using unnest($1::uuid[], $2::int4[], $3::int4[]) u (trace_id, ordinal, nth)
     where c.trace_id = u.trace_id and c.ordinal = u.ordinal and c.nth = u.nth`,
    [
      uuids(earlier.map(({ traceId }) => traceId)),
      int4s(earlier.map(({ call }) => call.ordinal)),
      int4s(earlier.map(({ call }) => call.nth)),
    ],
  )
}

export const writeFailures = (failures: readonly Failures[], write: WriteStatement): void => {
  remove(failures, write)
  const failed = placed(failures, (one) => one.failed)
  if (failed.length > 0) write('failed-calls-insert', insertStatement, rows.values(failed))
}

export const deleteFailures = (ids: readonly string[], write: WriteStatement): void =>
  write('failed-calls-delete', 'delete from failed_calls where trace_id = any($1::uuid[])', [uuids(ids)])
