import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { digest } from '../digest.ts'
import { readJson, writePrivateFile } from '../private-files.ts'
import { Rule, type RuleSource } from './rule.ts'

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
