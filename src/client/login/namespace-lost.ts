import { UsageError } from '../../cli/exit.ts'

/** Said where the user was removed from a namespace. */
export const noLongerIn = (slug: string): string => `you are no longer in @${slug}`

/** The user was a member of a namespace, and is no longer. */
export class NamespaceLost extends UsageError {
  constructor(slug: string) {
    super(`${noLongerIn(slug)}. Ask one of its admins for an invite`)
  }
}
