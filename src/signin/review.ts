import { z } from 'zod'
import { text } from '../contract/fields.ts'
import { UserView } from '../contract/user.ts'
import { type Joining, resolveJoining } from '../session/joining.ts'
import { findIdentity } from '../session/queries.ts'
import type { Credential } from '../user/decide.ts'
import { userById } from '../user/queries.ts'
import type { SignInRequest } from './handshakes.ts'
import { deviceCredential } from './complete-sign-in.ts'
import type { CodehostServices } from './services.ts'

/** What the user is asked to confirm: the account, the device, and the user that they will belong to. */
export const SignInReview = z
  .object({
    account: z
      .object({
        login: text('The name of the account', 'ada'),
        avatarUrl: text('The address of its picture').optional(),
      })
      .meta({ description: 'The account at the code host' }),
    deviceName: text('What the device was called at the start', 'my laptop').optional(),
    joining: z.enum(['known', 'joins', 'new']).meta({
      description:
        '`known`: the account has a user, and the device will act as that one; `joins`: the account will be joined to ' +
        'the user of the device; `new`: a user will be made for both',
    }),
    user: UserView.optional().meta({ description: 'The user that the device will act as; absent when it will be new' }),
    namespaceSlug: z.string().optional().meta({ description: 'The namespace that the user is at home in' }),
  })
  .meta({ id: 'SignInReview', description: 'What completing a sign-in would do' })
export type SignInReview = z.infer<typeof SignInReview>

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
