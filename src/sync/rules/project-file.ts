import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { globIn } from './globs.ts'
import { readSmallFile } from './read-small.ts'
import type { Place } from './repository.ts'
import { Globs, parseRules, Rule, type RuleSource } from './rule.ts'

/** The file with a project's rules, in its folder or in one above. */
export const PROJECT_FILE = '.tracebook.json'

const ProjectFile = Rule.extend({ exclude: Globs.optional() })

const MAX_BYTES = 1 << 16

/** The rule that a file has for a place. What its globs leave out is never sent. */
const ruleFor = (text: string, file: string, folder: string, { path }: Place): Rule => {
  const { exclude = [], ...rule } = parseRules(ProjectFile, text, file)
  return exclude.some((glob) => globIn([folder], glob)(path)) ? { ...rule, never: true } : rule
}

/** The rules of all files of a project, the nearest first. Throws UsageError for one that cannot be used. */
export const readProjectFiles = async (place: Place): Promise<readonly RuleSource[]> => {
  const sources: RuleSource[] = []
  for (const folder of place.folders) {
    const file = join(folder, PROJECT_FILE)
    const text = await readSmallFile(file, MAX_BYTES)
    if (text === undefined) continue
    const hash = createHash('sha256').update(text).digest('hex')
    // Worktrees of one repository hold the same file: whoever agreed to it there is not asked again.
    const anchor = place.repository?.commonDir ?? folder
    sources.push({ place: file, rule: ruleFor(text, file, folder, place), stranger: { anchor, hash } })
  }
  return sources
}
