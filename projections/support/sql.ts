/**
 * SQL that looks up one row of a table for each row of `u`; join with `ctid = found.ctid`. With a plain join the planner may
 * choose to scan the table, because it knows neither how many rows one trace has, nor how much the table will grow while the
 * connection keeps the plan.
 */
export const byKey = (table: string, key: string): string =>
  `cross join lateral (select r.ctid from ${table} r where ${key} limit 1) found`

/** SQL for the incarnation of a row `u`: that of its trace, which is written earlier in the same transaction; null without one. */
export const PRESENT_INCARNATION = '(select t.incarnation from traces t where t.id = u.trace_id)'

/**
 * SQL for a value that a row takes from another row, which must exist. Otherwise the statement fails with an error that has only the
 * id. If the table refused a null, the log of PostgreSQL would quote the whole row.
 */
export const required = (value: string, type: 'int8' | 'uuid', id: string): string =>
  `coalesce(${value}, ('nothing is known of ' || ${id})::${type})`
