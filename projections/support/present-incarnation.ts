/**
 * SQL for the incarnation of a new row `u`: that of its trace, which is written earlier in the same transaction. Null for a
 * row whose trace has no row, so that the table refuses it.
 */
export const PRESENT_INCARNATION = '(select t.incarnation from traces t where t.id = u.trace_id)'
