import { plain } from '../../cli/escape.ts'
import type { SignInReview } from '../api/client.ts'

const userOf = ({ user, namespaceSlug }: SignInReview): string => {
  const name = user?.displayName ?? `user ${user?.id}`
  return plain(namespaceSlug === undefined ? name : `${name} (namespace ${namespaceSlug})`)
}

/** What completing a sign-in will do, in words: the account, the device and the user. */
export const joiningInWords = (review: SignInReview, server: string, device: string): string => {
  const account = `your account "${plain(review.account.login)}" at the code host of ${server}`
  switch (review.joining) {
    case 'known':
      return `This device (${device}) will act with ${account}, as ${userOf(review)}.`
    case 'joins':
      return `This device (${device}) belongs to ${userOf(review)}: ${account} will be joined to that user for good.`
    case 'new':
      return `A new user will be made, for this device (${device}) and ${account}.`
  }
}
