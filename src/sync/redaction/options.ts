import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../../cli/exit.ts'
import { newFindSecrets } from './find.ts'
import type { RedactionOptions } from './session.ts'

/**
 * Raise it when other secrets are found than before: every session is read once more then, and of it what loses a secret is sent.
 * Names of rules stay, where they can: a message with another mark is sent again.
 */
const VERSION = 3

/** The file of the configuration folder that lists what looks like a secret and is none: a hash a line, `#` for comments. */
export const ALLOWED_SECRETS = 'allowed-secrets'

/** What is reported shows the first 12 digits of a hash: they are enough. */
const HASH = /^[0-9a-f]{12,64}$/

const readAllowed = async (config: string): Promise<readonly string[]> => {
  const text = await readFile(join(config, ALLOWED_SECRETS), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim())
  const hashes = lines.filter((line) => line !== '')
  const wrong = hashes.find((hash) => !HASH.test(hash))
  if (wrong !== undefined)
    throw new UsageError(`${ALLOWED_SECRETS}: "${wrong.slice(0, 80)}" is no hash of 12 to 64 hex digits`)
  return hashes
}

/** How secrets are taken out of sessions on this machine. Throws UsageError when the list of allowed ones cannot be used. */
export const readRedactionOptions = async (config: string): Promise<RedactionOptions> => {
  const allowed = (await readAllowed(config)).toSorted()
  const digest = createHash('sha256').update(allowed.join('\n')).digest('hex').slice(0, 12)
  return {
    version: ` redacted/${VERSION}/${digest}`,
    find: newFindSecrets(),
    isAllowed: (hash) => allowed.some((beginning) => hash.startsWith(beginning)),
  }
}
