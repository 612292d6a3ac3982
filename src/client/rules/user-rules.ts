import { join } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../../cli/exit.ts'
import { globIn, type Matches } from './globs.ts'
import { readSmallFile } from './read-small.ts'
import { realPathOf } from './repository.ts'
import { Glob, Globs, parseRules, Rule, type RuleSource } from './rule.ts'

/** The file of the configuration folder with rules for projects by their paths. */
const USER_FILE = 'tracebook.json'

const UserFile = z.strictObject({
  exclude: Globs.optional(),
  projects: z
    .array(Rule.extend({ path: Glob }))
    .max(1_000)
    .optional(),
})

const MAX_BYTES = 1 << 20

/** The rules in the user's own configuration file. */
export type UserRules = {
  /** The glob that excludes one of these paths and its file, as a text for people; undefined if no glob does. */
  readonly excludes: (paths: readonly string[]) => string | undefined
  /** The rules for a project with these paths, the first one first. */
  readonly rulesFor: (paths: readonly string[]) => readonly RuleSource[]
}

/** Whether a name in a path has no wildcards. */
const isPlain = (name: string): boolean => !/[*?[\]\\]/.test(name)

/**
 * Reads a glob for whole paths. It begins with `/` or a drive, with `~/` (the home folder), or with two asterisks and a slash (any folder). The
 * folders before its first wildcard may be symbolic links. Throws UsageError if the glob begins otherwise.
 */
const wholePathGlob = async (glob: string, home: string, file: string): Promise<Matches> => {
  const root = /^(?:~(?=\/|$)|[a-z]:(?=\/)|(?=\/|\*\*\/))/i.exec(glob)?.[0]
  if (root === undefined)
    throw new UsageError(
      `${file}: "${glob}" must begin with "/", "~/" or "**/", because it is compared with whole paths`,
    )
  const names = glob.slice(root.length).split('/').filter(Boolean)
  const firstWildcard = names.findIndex((name) => !isPlain(name))
  const plain = firstWildcard === -1 ? names : names.slice(0, firstWildcard)
  const folder = join(root === '~' ? home : `${root}/`, ...plain)
  return globIn([...new Set([folder, (await realPathOf(folder)).path])], names.slice(plain.length).join('/'))
}

/** Reads the rules in the configuration folder. Throws UsageError, with the file and the place in it, if they cannot be used. */
export const readUserRules = async (config: string, home: string): Promise<UserRules> => {
  const file = join(config, USER_FILE)
  const { exclude = [], projects = [] } = parseRules(UserFile, (await readSmallFile(file, MAX_BYTES)) ?? '{}', file)
  const globs = await Promise.all(
    exclude.map(async (glob) => ({ glob, matches: await wholePathGlob(glob, home, file) })),
  )
  const rules = await Promise.all(
    projects.map(async ({ path, ...rule }) => ({ path, rule, matches: await wholePathGlob(path, home, file) })),
  )
  return {
    excludes: (paths) => {
      const found = globs.find(({ matches }) => paths.some(matches))
      return found && `"${found.glob}" of exclude in ${file}`
    },
    rulesFor: (paths) =>
      rules
        .filter(({ matches }) => paths.some(matches))
        .map(({ path, rule }) => ({ place: `"${path}" in ${file}`, rule })),
  }
}
