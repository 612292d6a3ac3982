import { join, sep } from 'node:path'
import type { EnvironmentVariables } from '../agent.ts'

/** The folders `User` of the editor on macOS, Linux and Windows, whichever is there. */
const userFolders = ({ XDG_CONFIG_HOME, APPDATA }: EnvironmentVariables, home: string): readonly string[] =>
  [
    join(home, 'Library', 'Application Support'),
    XDG_CONFIG_HOME || join(home, '.config'),
    APPDATA || join(home, 'AppData', 'Roaming'),
  ].map((folder) => join(folder, 'Cursor', 'User'))

export const databasesIn = (env: EnvironmentVariables, home: string): readonly string[] =>
  userFolders(env, home).map((folder) => join(folder, 'globalStorage', 'state.vscdb'))

/** Where the editor describes its workspaces, beside the folder of its database. */
export const workspacesBeside = (database: string): string => join(database, '..', '..', 'workspaceStorage')

/** Where transcripts are, below the home folder. */
export const transcripts = (home: string): string => join(home, '.cursor', 'projects')

const TRANSCRIPTS = `${sep}${join('.cursor', 'projects')}${sep}`

/** The databases at their default places below the home folder of a transcript; none when it lies elsewhere. */
export const databasesOfTranscript = (path: string): readonly string[] => {
  const end = path.lastIndexOf(TRANSCRIPTS)
  return end === -1 ? [] : databasesIn({}, path.slice(0, end))
}

/** The folder below which a project's transcripts are, named after the project's path; undefined when it lies elsewhere. */
export const projectFolderOf = (path: string): string | undefined => {
  const start = path.lastIndexOf(TRANSCRIPTS)
  return start === -1 ? undefined : path.slice(start + TRANSCRIPTS.length).split(sep)[0]
}
