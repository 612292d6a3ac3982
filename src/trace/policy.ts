import { Rejected, hiddenNotFound } from '../engine/rejected.ts'
import type { Role } from '../contract/namespaces.ts'
import type { Visibility } from '../contract/trace.ts'

/** A user, with the role in the namespace of a trace; undefined for users who are not members. */
export type UserRole = { readonly userId: string; readonly role: Role | undefined }

/** The write policy: admins may write, and the creator of the trace while a member. */
export const mayWrite = (trace: { readonly createdBy: string }, { userId, role }: UserRole): boolean =>
  role === 'admin' || (role !== undefined && trace.createdBy === userId)

/** @throws Rejected not_found for a user who is not a member, forbidden for a member who may not write */
export const assertMayWrite = (trace: { readonly createdBy: string }, user: UserRole): void => {
  if (mayWrite(trace, user)) return
  throw user.role === undefined
    ? hiddenNotFound()
    : new Rejected('forbidden', 'Only its creator or an admin may change this trace')
}

/** The read policy: everybody may read a public trace, only members any other. */
export const mayRead = (
  { visibility }: { readonly visibility: Visibility },
  caller: Pick<UserRole, 'role'> | undefined,
): boolean => visibility === 'public' || caller?.role !== undefined

/** @throws Rejected unauthorized without a caller, not_found for a caller who is not a member and may not read */
export const assertMayRead = (trace: { readonly visibility: Visibility }, caller: UserRole | undefined): void => {
  if (mayRead(trace, caller)) return
  throw caller ? hiddenNotFound() : new Rejected('unauthorized', 'Authentication required')
}
