import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../../cli/exit.ts'
import { type FindSecrets, newFindSecrets } from './find.ts'
import type { RedactionOptions } from './session.ts'

/**
 * Raise this number when other secrets are found than before: then every session is read once more, and messages that lose a secret
 * are sent. Keep the names of rules where possible, because a message with another mark is sent again.
 */
const VERSION = 4

/** With what the versions of all rules begin: a stamp has it if secrets were taken out. */
export const REDACTED = ' redacted/'

/** The file in the configuration folder with values that look like secrets but are not: a hash on each line, `#` for comments. */
export const ALLOWED_SECRETS = 'allowed-secrets'

/** The first 12 digits of a hash are enough, because only these are shown. */
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
    throw new UsageError(
      `${join(config, ALLOWED_SECRETS)}: expected a hash of 12 to 64 hex digits on each line, got "${wrong.slice(0, 80)}". ` +
        'Correct that line, or put # in front of it',
    )
  return hashes
}

/** The rules take 20 to 50 ms to prepare, which a sync with nothing new does without. */
const newFindWhenNeeded = (): FindSecrets => {
  let find: FindSecrets | undefined
  return (text, about) => (find ??= newFindSecrets())(text, about)
}

/** How secrets are taken out of sessions on this machine. Throws UsageError if the list of allowed values cannot be used. */
export const readRedactionOptions = async (config: string): Promise<RedactionOptions> => {
  const allowed = (await readAllowed(config)).toSorted()
  const digest = createHash('sha256').update(allowed.join('\n')).digest('hex').slice(0, 12)
  return {
    version: `${REDACTED}${VERSION}/${digest}`,
    find: newFindWhenNeeded(),
    isAllowed: (hash) => allowed.some((beginning) => hash.startsWith(beginning)),
  }
}
