import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { digest } from '../digest.ts'
import { readJson, writePrivateFile } from '../private-files.ts'
import { globIn } from './globs.ts'
import { readSmallFile } from './read-small.ts'
import type { Place } from './repository.ts'
import { Globs, parseRules, Rule, type RuleSource } from './rule.ts'

/** The file with a project's rules, in its folder or in one above. */
const PROJECT_FILE = '.tracebook.json'

const ProjectFile = Rule.extend({ exclude: Globs.optional() })

const MAX_BYTES = 1 << 16

/** The rule that a file has for a place. Sessions that its globs exclude are never sent. */
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
    // Worktrees of one repository have the same file: a user who agreed to it in one is not asked again in another.
    const anchor = place.repository?.commonDir ?? folder
    sources.push({ place: file, rule: ruleFor(text, file, folder, place), stranger: { anchor, hash } })
  }
  return sources
}

/** The rules of projects on this machine, so that they still hold for sessions of a project whose folder is gone. */
export type RememberedRules = {
  readonly read: (path: string) => Promise<readonly RuleSource[]>
  /** Writes only where something has changed. */
  readonly write: (path: string, sources: readonly RuleSource[]) => Promise<void>
}

const Source = z.object({
  place: z.string(),
  rule: Rule,
  stranger: z.object({ anchor: z.string(), hash: z.string() }).optional(),
})
const Stored = z.object({ version: z.literal(1), path: z.string(), sources: z.array(Source) })

/** The folder of the configuration folder with a file for each project that has rules. */
const FOLDER = 'project-rules'

export const openRememberedRules = (config: string): RememberedRules => {
  const fileOf = (path: string) => join(config, FOLDER, `${digest(path)}.json`)
  const read = async (path: string): Promise<readonly RuleSource[]> => {
    const { data } = Stored.safeParse(await readJson(fileOf(path)))
    return data?.path === path ? (data.sources as readonly RuleSource[]) : []
  }
  return {
    read,
    write: async (path, sources) => {
      if (JSON.stringify(await read(path)) === JSON.stringify(sources)) return
      if (sources.length === 0) await rm(fileOf(path), { force: true })
      else await writePrivateFile(fileOf(path), `${JSON.stringify({ version: 1, path, sources })}\n`)
    },
  }
}
