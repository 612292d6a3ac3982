import { readdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { EnvironmentVariables } from '../agent.ts'
import { appFolders } from '../support/files.ts'

/** The editor's folders `User` on macOS, Linux and Windows. Not all of them exist. */
const userFolders = (env: EnvironmentVariables, home: string): readonly string[] =>
  appFolders(env, home).map((folder) => join(folder, 'Cursor', 'User'))

export const databasesIn = (env: EnvironmentVariables, home: string): readonly string[] =>
  userFolders(env, home).map((folder) => join(folder, 'globalStorage', 'state.vscdb'))

/** Where the editor describes its workspaces, beside the folder of its database. */
export const workspacesBeside = (database: string): string => join(database, '..', '..', 'workspaceStorage')

/** The folders in which the command line tool keeps a folder for each project, with a folder for each session. */
export const chatsIn = ({ XDG_CONFIG_HOME }: EnvironmentVariables, home: string): readonly string[] => [
  join(home, '.cursor', 'chats'),
  join(XDG_CONFIG_HOME || join(home, '.config'), 'cursor', 'chats'),
]

/** The name of a project's folder there: the MD5 of its path. */
export const PROJECT_OF_CHATS = /^[0-9a-f]{32}$/

/** Where transcripts are, below the home folder. */
export const transcripts = (home: string): string => join(home, '.cursor', 'projects')

const TRANSCRIPTS = `${sep}${join('.cursor', 'projects')}${sep}`

/** The home folder that contains a transcript; undefined if the transcript is elsewhere. */
const homeOfTranscript = (path: string): string | undefined => {
  const end = path.lastIndexOf(TRANSCRIPTS)
  return end === -1 ? undefined : path.slice(0, end)
}

/** The editor's databases at their default places below the home folder of a transcript; none if the transcript is elsewhere. */
export const databasesOfTranscript = (path: string): readonly string[] => {
  const home = homeOfTranscript(path)
  return home === undefined ? [] : databasesIn({}, home)
}

/** The editor's databases at their default places below the home folder of a database of the command line tool. */
export const databasesOfStore = (path: string): readonly string[] => {
  const chats = join(path, '..', '..', '..')
  const home = [join(chats, '..', '..'), join(chats, '..', '..', '..')].find((one) => chatsIn({}, one).includes(chats))
  return home === undefined ? [] : databasesIn({}, home)
}

/** The default places of databases in which the command line tool may keep the session of a transcript. */
export const storesOfTranscript = async (path: string, id: string): Promise<readonly string[]> => {
  const home = homeOfTranscript(path)
  const found: string[] = []
  for (const chats of home === undefined ? [] : chatsIn({}, home))
    for (const project of await readdir(chats).catch(() => [])) found.push(join(chats, project, id, 'store.db'))
  return found
}

/** The name of the folder with a project's transcripts, made from the project's path; undefined for a transcript elsewhere. */
export const projectFolderOf = (path: string): string | undefined => {
  const start = path.lastIndexOf(TRANSCRIPTS)
  return start === -1 ? undefined : path.slice(start + TRANSCRIPTS.length).split(sep)[0]
}
