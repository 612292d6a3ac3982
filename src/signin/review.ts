import type { SignInReview } from '../contract/signin.ts'
import { type Joining, resolveJoining } from '../session/joining.ts'
import { findIdentity } from '../session/queries.ts'
import type { Credential } from '../user/decide.ts'
import { userById } from '../user/queries.ts'
import type { SignInRequest } from './handshakes.ts'
import { deviceCredential } from './complete-sign-in.ts'
import type { CodehostServices } from './services.ts'

/** What completing a sign-in would do now: which user the account is joined to, and the view that is shown to the user. */
export const reviewSignIn = async (
  { reads }: Pick<CodehostServices, 'reads'>,
  signIn: SignInRequest,
  credential: Credential,
): Promise<{ readonly joining: Joining; readonly review: SignInReview }> => {
  const [found, device] = await Promise.all([
    findIdentity(reads, credential),
    findIdentity(reads, deviceCredential(signIn)),
  ])
  const joining = resolveJoining(found.user, device.user)
  const { providerData } = credential.profile
  const common = {
    account: providerData ?? { login: '' },
    ...(signIn.deviceName === undefined ? {} : { deviceName: signIn.deviceName }),
    joining: joining.is,
  }
  if (joining.is === 'new') return { joining, review: common }
  const slug = (found.user ?? device.user)?.active?.slug
  const user = await userById(reads, joining.userId)
  return { joining, review: { ...common, user, ...(slug === undefined ? {} : { namespaceSlug: slug }) } }
}
