/**
 * The rows of a table that `u` names, each found by its key: join with `ctid = found.ctid`. In a plain join the planner
 * may begin with the table instead, and go through `u` for each of its rows: it knows neither how many rows one trace has
 * nor how the table will grow while the connection keeps the plan.
 */
export const byKey = (table: string, key: string): string =>
  `cross join lateral (select r.ctid from ${table} r where ${key} limit 1) found`
