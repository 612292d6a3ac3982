import { dirname } from 'node:path'
import type { Account } from './run.ts'
import { run } from './run.ts'

const ancestors = (folder: string): string[] =>
  dirname(folder) === folder ? [folder] : [...ancestors(dirname(folder)), folder]

/**
 * Makes sure that the account can enter a folder (absolute path), by trying: modes alone do not tell (ACLs, mounts).
 * @throws Error that names the first folder on the way that it cannot enter, and what to do
 */
export const requireEntry = async (account: Account | undefined, folder: string, remedy: string): Promise<void> => {
  const script = 'for folder do cd "$folder" 2>/dev/null || { printf %s "$folder"; exit 1; }; done'
  const { code, stdout } = await run('/bin/sh', ['-c', script, 'sh', ...ancestors(folder)], { account })
  if (code === 0) return
  const who = account ? `user ${account.uid}, which PostgreSQL runs as,` : 'PostgreSQL'
  throw new Error(`${who} cannot enter ${stdout}: chmod o+x ${stdout}, ${remedy}, or set DATABASE_URL`)
}
