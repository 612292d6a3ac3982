import { askLine } from '../../cli/ask.ts'
import { commandName } from '../../cli/command-name.ts'
import { UsageError, errorMessage } from '../../cli/exit.ts'
import { io } from '../../cli/io.ts'
import { say } from '../../cli/output.ts'
import { type AccountClient, newAccountClient } from '../../client/api/account.ts'
import { hasStatus } from '../../client/api/errors.ts'
import { explainEndedSession, requireLogin } from '../../client/login/connect.ts'
import { shortName } from '../declared/values.ts'
import { type Access, noticedTiming } from './access.ts'

/** The login of a server, and a client for the account of its user. */
export type AccountAccess = {
  readonly stored: Awaited<ReturnType<typeof requireLogin>>
  readonly account: AccountClient
  /** @throws UsageError when the session has ended */
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

/** A user by name, if there is one, and id. */
export const userText = ({ id, displayName }: { readonly id: string; readonly displayName?: string | undefined }) =>
  displayName === undefined ? `user ${id}` : `${displayName} (user ${id})`

/** Explains why the service refused a name. @throws UsageError; any other error unchanged */
export const explainName = (error: unknown): never => {
  if (hasStatus(error, 400)) throw new UsageError(`The server refused this name: ${error.message}`, { cause: error })
  throw error
}

/**
 * Asks a user who has just joined a namespace for a name, if there is a terminal and they have none. Returns their name. A failure
 * is only reported, because they have joined already.
 */
export const askForName = async (account: AccountClient): Promise<string | undefined> => {
  if (!io().stdin.isTTY || !io().stderr.isTTY) return undefined
  const later = `To set your name later, run: ${commandName} whoami --set-name NAME`
  try {
    const { user } = await account.session()
    if (user.displayName !== undefined) return user.displayName
    const question = 'Your name, as other members see it (Enter: none): '
    const answer = await askLine(question, later, new AbortController().signal)
    if (answer.trim() === '') throw new UsageError(later)
    const name = shortName(answer)
    await account.rename(name).catch(explainName)
    return name
  } catch (error) {
    say(errorMessage(error))
    return undefined
  }
}
