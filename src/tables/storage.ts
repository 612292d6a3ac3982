/*
 * Storage parameters that decide when a table is vacuumed. By default a fifth of its rows must be dead, which in a large table
 * is deleted content of months. Frequent vacuums are cheap: they skip pages without dead rows.
 */

/** For tables from which whole traces are erased. Long values are in a TOAST table, which has parameters of its own. */
export const erasedFrom = `
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
  toast.autovacuum_vacuum_scale_factor = 0.01, toast.autovacuum_vacuum_threshold = 5000`

/** For tables with a row for each trace or namespace that is updated often, though at any time only a few of them. */
export const rewritten = `
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000`

/**
 * For the order of lists: queries step over index entries of deleted rows. The first query to meet a dead entry marks it,
 * unless an older snapshot is open; only a vacuum with index cleanup removes entries, however few they are.
 */
export const listedFrom = `
  autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_threshold = 1000, vacuum_index_cleanup = on`
