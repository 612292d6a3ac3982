import { type AccountClient, newAccountClient } from '../../sync/api/account.ts'
import { explainEndedSession, requireLogin } from '../../sync/login/connect.ts'
import { type Access, noticedTiming } from './access.ts'

/** The login of a server, and what it can ask about its user. */
export type AccountAccess = {
  readonly stored: Awaited<ReturnType<typeof requireLogin>>
  readonly account: AccountClient
  /** Explains to the user that a session has ended. @throws UsageError */
  readonly asLogin: <Result>(work: Promise<Result>) => Promise<Result>
}

/** @throws UsageError without a login */
export const openAccount = async ({ config, server }: Access): Promise<AccountAccess> => {
  const stored = await requireLogin(config, server)
  return {
    stored,
    account: newAccountClient(server, stored.login.token, noticedTiming),
    asLogin: (work) => explainEndedSession(server, work),
  }
}

/** A user in words: the name, if there is one, and the id. */
export const userText = ({ id, displayName }: { readonly id: string; readonly displayName?: string | undefined }) =>
  displayName === undefined ? `user ${id}` : `${displayName} (user ${id})`
