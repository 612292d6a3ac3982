import { realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { readJson } from '../../private-files.ts'
import type { EnvironmentVariables } from '../agent.ts'
import { configFolders } from './places.ts'

const DEFAULT_DAYS = 30

/** `cleanupPeriodDays` of the settings in a folder of the CLI; its default for settings without it, or that cannot be read. */
const cleanupDays = async (folder: string): Promise<number> => {
  const settings = await readJson(join(folder, 'settings.json')).catch(() => undefined)
  const days = (settings as { cleanupPeriodDays?: unknown } | null | undefined)?.cleanupPeriodDays
  return typeof days === 'number' && days >= 0 ? days : DEFAULT_DAYS
}

const realOr = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/**
 * When the CLI deletes what is in its folders: at a start, each file to which nothing was written for so many days. What the desktop app
 * keeps elsewhere is not deleted by that.
 */
export const keptDays = async (
  env: EnvironmentVariables,
  home: string,
): Promise<(source: string) => number | undefined> => {
  const folders = await Promise.all(
    configFolders(env, home).map(async (folder) => ({
      below: realOr(join(folder, 'projects')) + sep,
      days: await cleanupDays(folder),
    })),
  )
  return (source) => folders.find(({ below }) => source.startsWith(below))?.days
}
