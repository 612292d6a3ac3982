import { Rejected, hiddenNotFound } from '../engine/rejected.ts'
import { unauthorized } from '../http/http-error.ts'
import type { Visibility } from '../trace/events.ts'
import type { Member } from '../trace/policy.ts'

/**
 * Who may see the history of a trace: members of its namespace. It may show more than the trace does now, so that being public
 * is not enough.
 * @throws 401 without a caller; for a caller who is no member 403 when the trace is public, else 404
 */
export const assertMayReadHistory = (trace: { readonly visibility: Visibility }, caller: Member | undefined): void => {
  if (!caller) throw unauthorized()
  if (caller.role !== undefined) return
  throw trace.visibility === 'public'
    ? new Rejected('forbidden', 'Only members of its namespace may see the history of a trace')
    : hiddenNotFound()
}
