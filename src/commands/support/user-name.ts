import { io } from '../../cli/io.ts'
import { askLine } from '../../cli/ask.ts'
import { commandName } from '../../cli/command-name.ts'
import { UsageError, errorMessage } from '../../cli/exit.ts'
import { say } from '../../cli/output.ts'
import type { AccountClient } from '../../sync/api/account.ts'
import { hasStatus } from '../../sync/api/errors.ts'
import { nameFrom } from './given-name.ts'

/** What the service says of a name that it does not take. @throws UsageError; any other error as it is */
export const explainName = (error: unknown): never => {
  if (hasStatus(error, 400)) throw new UsageError(`The name is not taken: ${error.message}`, { cause: error })
  throw error
}

/**
 * Asks a user without a name for one, who has just become a member of a team and sits at a terminal, and gives what they are called then.
 * An empty line is no name. What fails here is said only: the user is a member already.
 */
export const askForName = async (account: AccountClient): Promise<string | undefined> => {
  if (!io().stdin.isTTY || !io().stderr.isTTY) return undefined
  const later = `Give yourself a name later: ${commandName} whoami --set-name NAME`
  try {
    const { user } = await account.session()
    if (user.displayName !== undefined) return user.displayName
    const question = 'Your name, as the other members see it (Enter: none): '
    const answer = await askLine(question, later, new AbortController().signal)
    if (answer.trim() === '') throw new UsageError(later)
    const name = nameFrom(answer)
    await account.rename(name).catch(explainName)
    return name
  } catch (error) {
    say(errorMessage(error))
    return undefined
  }
}
