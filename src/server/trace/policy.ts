import { Rejected, hiddenNotFound } from '../../eventstore/engine/rejected.ts'
import type { Role } from '../../contract/namespaces.ts'
import type { Visibility } from '../../contract/trace.ts'

/** A user, with the role in the namespace of a trace; undefined for users who are not members. */
export type UserRole = { readonly userId: string; readonly role: Role | undefined }

/** The write policy: admins of the namespace may write, and the creator of the trace as long as they are a member. */
export const mayWrite = (trace: { readonly createdBy: string }, { userId, role }: UserRole): boolean =>
  role === 'admin' || (role !== undefined && trace.createdBy === userId)

/** @throws Rejected not_found if the user is not a member, forbidden if the user is a member who may not write */
export const assertMayWrite = (trace: { readonly createdBy: string }, user: UserRole): void => {
  if (mayWrite(trace, user)) return
  throw user.role === undefined
    ? hiddenNotFound()
    : new Rejected('forbidden', 'Only its creator or an admin may change this trace')
}

/** The read policy: everybody may read a public trace; only members may read any other trace. */
export const mayRead = (
  { visibility }: { readonly visibility: Visibility },
  caller: Pick<UserRole, 'role'> | undefined,
): boolean => visibility === 'public' || caller?.role !== undefined

/** @throws Rejected, if the trace may not be read: unauthorized if there is no caller, else not_found */
export const assertMayRead = (trace: { readonly visibility: Visibility }, caller: UserRole | undefined): void => {
  if (mayRead(trace, caller)) return
  throw caller ? hiddenNotFound() : new Rejected('unauthorized', 'Authentication required')
}
