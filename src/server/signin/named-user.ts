import type { NamedUser } from '../pages/sign-in.ts'
import { userAndNamespace } from '../session/queries.ts'
import type { SignInServices } from '../session/services.ts'
import { userById } from '../user/queries.ts'

/** A user for a page, with the slug of their own namespace. */
export const namedUser = async ({ reads }: Pick<SignInServices, 'reads'>, userId: string): Promise<NamedUser> => {
  const [user, { active }] = await Promise.all([userById(reads, userId), userAndNamespace(reads, userId)])
  return { user, namespaceSlug: active?.slug }
}
