import { dirname } from 'node:path'
import type { Account } from './run-program.ts'
import { runProgram } from './run-program.ts'

const ancestors = (folder: string): string[] =>
  dirname(folder) === folder ? [folder] : [...ancestors(dirname(folder)), folder]

/**
 * The first folder on the path to a folder (absolute) that an account cannot enter. This is tried, because file modes do not show
 * access control lists.
 */
const firstInaccessible = async (account: Account | undefined, folder: string): Promise<string | undefined> => {
  const script = 'for folder do cd "$folder" 2>/dev/null || { printf %s "$folder"; exit 1; }; done'
  const { code, stdout } = await runProgram('/bin/sh', ['-c', script, 'sh', ...ancestors(folder)], { account })
  return code === 0 ? undefined : stdout
}

export const canEnter = async (account: Account | undefined, folder: string): Promise<boolean> =>
  (await firstInaccessible(account, folder)) === undefined

/**
 * Checks that the account can enter a folder (absolute path).
 * @throws Error that names the first folder on the path that it cannot enter, and how to solve it
 */
export const assertCanEnter = async (account: Account | undefined, folder: string, remedy: string): Promise<void> => {
  const closed = await firstInaccessible(account, folder)
  if (closed === undefined) return
  const who = account ? `user ${account.uid}, which runs PostgreSQL,` : 'PostgreSQL'
  throw new Error(`${who} cannot enter ${closed}: chmod o+x ${closed}, ${remedy}, or set DATABASE_URL`)
}
