import type pg from 'pg'
import { operationalQuery } from '../../eventstore/engine/reads.ts'

/**
 * The traces that retention is about to delete, by their namespaces. A trace whose deletion got no answer stays here, because it may still be
 * stored. All methods throw Unavailable while the database is away.
 */
export type ExpiringTraces = {
  /** Resolves when every node sees the trace here. */
  add(namespaceId: string, traceId: string): Promise<void>
  remove(namespaceId: string, traceId: string): Promise<void>
  of(namespaceId: string): Promise<readonly string[]>
}

const addStatement = 'insert into tracebook.expiring_traces values ($1, $2) on conflict do nothing'
const removeStatement = 'delete from tracebook.expiring_traces where namespace_id = $1 and trace_id = $2'
const ofStatement = 'select trace_id from tracebook.expiring_traces where namespace_id = $1'

export const newExpiringTraces = (pool: Pick<pg.Pool, 'query'>): ExpiringTraces => {
  const run = async <Row extends pg.QueryResultRow>(name: string, text: string, values: string[]) =>
    (await operationalQuery(pool.query<Row>({ name, text, values }))).rows
  return {
    add: async (...ids) => void (await run('expiring-add', addStatement, ids)),
    remove: async (...ids) => void (await run('expiring-remove', removeStatement, ids)),
    of: async (namespaceId) =>
      (await run<{ trace_id: string }>('expiring-of', ofStatement, [namespaceId])).map(({ trace_id: id }) => id),
  }
}
