import { dirname } from 'node:path'
import type { Account } from './run-program.ts'
import { run } from './run-program.ts'

const ancestors = (folder: string): string[] =>
  dirname(folder) === folder ? [folder] : [...ancestors(dirname(folder)), folder]

/** The first folder on the way to a folder (absolute path) that an account cannot enter, by trying: modes alone do not tell. */
const firstClosed = async (account: Account | undefined, folder: string): Promise<string | undefined> => {
  const script = 'for folder do cd "$folder" 2>/dev/null || { printf %s "$folder"; exit 1; }; done'
  const { code, stdout } = await run('/bin/sh', ['-c', script, 'sh', ...ancestors(folder)], { account })
  return code === 0 ? undefined : stdout
}

export const mayEnter = async (account: Account | undefined, folder: string): Promise<boolean> =>
  (await firstClosed(account, folder)) === undefined

/**
 * Makes sure that the account can enter a folder (absolute path).
 * @throws Error that names the first folder on the way that it cannot enter, and what to do
 */
export const requireEntry = async (account: Account | undefined, folder: string, remedy: string): Promise<void> => {
  const closed = await firstClosed(account, folder)
  if (closed === undefined) return
  const who = account ? `user ${account.uid}, which PostgreSQL runs as,` : 'PostgreSQL'
  throw new Error(`${who} cannot enter ${closed}: chmod o+x ${closed}, ${remedy}, or set DATABASE_URL`)
}
