/** SQL for the incarnation of a row `u`: that of its trace, which is written earlier in the same transaction; null without one. */
export const PRESENT_INCARNATION = '(select t.incarnation from traces t where t.id = u.trace_id)'
