import { basename, join, sep } from 'node:path'
import { readJson } from '../../private-files.ts'
import type { EnvironmentVariables } from '../agent.ts'
import { appFolders, realPath } from '../support/files.ts'

/** The CLI's own folders: those in `CLAUDE_CONFIG_DIR`, separated by commas, else its two default folders. */
export const configFolders = (env: EnvironmentVariables, home: string): readonly string[] => {
  const named = (env['CLAUDE_CONFIG_DIR'] ?? '').split(',').flatMap((folder) => folder.trim() || [])
  return named.length > 0
    ? named
    : [join(home, '.claude'), join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'claude')]
}

const DESKTOP = 'local-agent-mode-sessions'

/** The folders with sessions: `projects` in each of the CLI's, and the desktop app's folder with a folder for each of its sessions. */
export const sessionFolders = (env: EnvironmentVariables, home: string): readonly string[] => [
  ...configFolders(env, home).map((folder) => join(folder, 'projects')),
  ...appFolders(env, home).map((folder) => join(folder, 'Claude', DESKTOP)),
]

/** Skips outputs of tools, the files that the desktop app's sessions work on, and what the CLI keeps for itself. */
export const skipsFolder = (path: string): boolean => {
  const [name, parent = ''] = path.split(sep).reverse() as [string, string?]
  if (name === 'tool-results') return true
  return (parent.startsWith('local_') && name !== '.claude') || (parent === '.claude' && name !== 'projects')
}

/** Whether a file below one of these folders holds a session. Below `subagents` there are also files of other kinds. */
export const isSessionFile = (path: string): boolean => {
  const steps = path.split(sep)
  if (!path.endsWith('.jsonl') || steps.includes('tool-results')) return false
  if (steps.includes('subagents') && !basename(path).startsWith('agent-')) return false
  return !steps.includes(DESKTOP) || path.includes(join(sep, '.claude', 'projects', sep))
}

const SESSION =
  /[\\/](?:([0-9a-f-]{36}[\\/])subagents[\\/](?:[^\\/]+[\\/])*(agent-[^\\/]+)|([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))\.jsonl$/

/** The session in the path of a file: its id, of a sub-agent that of the session above it, too (README, rule 1). */
export const sessionIn = (path: string): string | undefined => {
  const [, above = '', agent, session] = SESSION.exec(path) ?? []
  return agent === undefined ? session : above + agent
}

const DEFAULT_DAYS = 30

/** `cleanupPeriodDays` in the settings of a folder of the CLI; the CLI's default if the settings do not have it or cannot be read. */
const cleanupDays = async (folder: string): Promise<number> => {
  const settings = await readJson(join(folder, 'settings.json')).catch(() => undefined)
  const days = (settings as { cleanupPeriodDays?: unknown } | null | undefined)?.cleanupPeriodDays
  return typeof days === 'number' && days >= 0 ? days : DEFAULT_DAYS
}

/**
 * For how many days the CLI keeps a session file to which nothing is written: it deletes older ones each time it starts. Files in
 * the desktop app's folder are not deleted.
 */
export const keptDays = async (
  env: EnvironmentVariables,
  home: string,
): Promise<(source: string) => number | undefined> => {
  const folders = await Promise.all(
    configFolders(env, home).map(async (folder) => ({
      below: (realPath(join(folder, 'projects')) ?? join(folder, 'projects')) + sep,
      days: await cleanupDays(folder),
    })),
  )
  return (source) => folders.find(({ below }) => source.startsWith(below))?.days
}
