/**
 * Which life of its trace a new row `u` belongs to: the header's, which is written before in the same transaction. A row
 * without a header has none, and the table refuses it.
 */
export const PRESENT_INCARNATION = '(select t.incarnation from traces t where t.id = u.trace_id)'
