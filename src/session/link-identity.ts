import { createIdentity, type Identity } from '../user/decide.ts'
import type { Admit } from './admission.ts'
import type { KnownUser } from './queries.ts'
import type { NewIdentity } from './new-identity.ts'
import { type SignedUp, type Writers, signUp } from './sign-up.ts'

/**
 * Gives a new identity to the user of a device, who is made when there is none; may be repeated from any point. An
 * identity that has come to belong to somebody else meanwhile stays theirs.
 */
export const link = async (
  writers: Writers,
  { id, type, key, profile }: NewIdentity,
  device: { readonly identity: NewIdentity; readonly user: KnownUser | undefined },
  requestId: string | undefined,
  admit: Admit,
): Promise<SignedUp> => {
  const { userId, active } = device.user ?? (await signUp(writers, device.identity, requestId, admit))
  const decide = createIdentity({ userId, type, key, ...profile })
  const ownerOf = (state: Identity) => (state.is === 'present' ? state.userId : userId)
  const { answer: owner } = await writers.identities.transact(
    id,
    { decide, answer: ownerOf },
    { actor: { userId }, requestId },
  )
  return { userId: owner, active: owner === userId ? active : undefined }
}
