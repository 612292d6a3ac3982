/**
 * SQL that looks up one row of a table for each row of `u`; join with `ctid = found.ctid`. For a plain join the planner may
 * choose to scan the table: it knows neither how many rows one trace has, nor how much the table will grow while the
 * connection keeps the plan.
 */
export const byKey = (table: string, key: string): string =>
  `cross join lateral (select r.ctid from ${table} r where ${key} limit 1) found`
