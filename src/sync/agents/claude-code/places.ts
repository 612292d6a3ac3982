import { basename, join, sep } from 'node:path'
import type { EnvironmentVariables } from '../agent.ts'
import { appFolders } from '../support/app-folders.ts'

/** The CLI's own folders: those that `CLAUDE_CONFIG_DIR` names, separated by commas, else both that it has by default. */
export const configFolders = (env: EnvironmentVariables, home: string): readonly string[] => {
  const named = (env['CLAUDE_CONFIG_DIR'] ?? '').split(',').flatMap((folder) => folder.trim() || [])
  return named.length > 0
    ? named
    : [join(home, '.claude'), join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'claude')]
}

const DESKTOP = 'local-agent-mode-sessions'

/** Where sessions are: below the CLI's folders, and for the desktop app in a folder of such ones, one for each of its sessions. */
export const sessionFolders = (env: EnvironmentVariables, home: string): readonly string[] => [
  ...configFolders(env, home).map((folder) => join(folder, 'projects')),
  ...appFolders(env, home).map((folder) => join(folder, 'Claude', DESKTOP)),
]

/** Folders beside sessions: outputs of tools, what the desktop app's sessions work on, and what the CLI keeps for itself. */
export const skipsFolder = (path: string): boolean => {
  const [name, parent = ''] = path.split(sep).reverse() as [string, string?]
  if (name === 'tool-results') return true
  return (parent.startsWith('local_') && name !== '.claude') || (parent === '.claude' && name !== 'projects')
}

/** Whether a file below one of these folders holds a session: below `subagents` are others, too. */
export const isSessionFile = (path: string): boolean => {
  const steps = path.split(sep)
  if (!path.endsWith('.jsonl') || steps.includes('tool-results')) return false
  if (steps.includes('subagents') && !basename(path).startsWith('agent-')) return false
  return !steps.includes(DESKTOP) || path.includes(join(sep, '.claude', 'projects', sep))
}
