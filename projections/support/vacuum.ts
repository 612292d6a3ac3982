/**
 * Storage parameters: when a table is vacuumed. By default that is once a fifth of it is dead, of large read models months
 * of content that was deleted. Small vacuums are cheap: pages without dead rows are skipped.
 */

/** For tables from which whole traces are erased; long values lie in a table of their own. */
export const erasedFrom = `
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
  toast.autovacuum_vacuum_scale_factor = 0.01, toast.autovacuum_vacuum_threshold = 5000`

/** For tables with a row for each trace, rewritten while the trace grows: the busy ones are few. */
export const rewritten = `
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000`

/**
 * For the order of lists: pages go past what has been deleted. The first to meet a dead entry marks it, unless a snapshot is
 * open that is older; entries leave the index only when it is vacuumed, also for few.
 */
export const listedFrom = `
  autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_threshold = 1000, vacuum_index_cleanup = on`
