import type { NewIdentity } from '../user/decide.ts'
import type { AdmitUser } from './admission.ts'
import type { UserAndNamespace } from './queries.ts'
import { type SignUpTransactors, createIdentityOf, signUp } from './sign-up.ts'

/**
 * Creates an identity for the user of a device, and that user if there is none. May be repeated from any point. When the
 * identity was created for another user in the meantime, it returns that user, without a namespace.
 */
export const linkIdentity = async (
  transactors: SignUpTransactors,
  identity: NewIdentity,
  device: { readonly identity: NewIdentity; readonly user: UserAndNamespace | undefined },
  requestId: string | undefined,
  admitUser: AdmitUser,
): Promise<UserAndNamespace> => {
  const { userId, active } = device.user ?? (await signUp(transactors, device.identity, requestId, admitUser))
  const owner = await createIdentityOf(transactors, userId, identity, { actor: { userId }, requestId })
  return { userId: owner, active: owner === userId ? active : undefined }
}
