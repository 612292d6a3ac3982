import { readFile, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Json, isObject, objectOf, parseObject, textOf } from '../support/json.ts'
import { rememberListing } from '../support/sqlite/remember.ts'
import { columnsOf, readDatabase } from '../support/sqlite/snapshot.ts'
import { workspacesBeside } from './places.ts'

/** The path in a `file:` address, or in the address of a folder on a remote machine; undefined for anything else. */
export const pathOf = (uri: unknown): string | undefined => {
  const path = typeof uri === 'string' ? /^[\w-]+:\/\/[^/]*(\/.*)$/.exec(uri)?.[1] : undefined
  if (path === undefined) return undefined
  try {
    return decodeURIComponent(path).replace(/^\/([a-z]:)/i, '$1')
  } catch {
    return undefined
  }
}

const foldersIn = async (path: string): Promise<readonly string[]> => {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name))
}

/** The project folder of a workspace. */
const folderOf = async (workspace: string): Promise<string | undefined> =>
  pathOf(parseObject(await readFile(join(workspace, 'workspace.json'), 'utf8').catch(() => ''))?.['folder'])

const VIEW = 'workbench.panel.aichat.view.'
const PANE = 'workbench.panel.composerChatViewPane'

/** The sessions that one row of a workspace names. */
const idsIn = (key: string, value: Json): readonly string[] => {
  if (key !== 'composer.composerData')
    return Object.keys(value).flatMap((name) => (name.startsWith(VIEW) ? [name.slice(VIEW.length)] : []))
  const { allComposers, selectedComposerIds } = value
  const all = Array.isArray(allComposers) ? allComposers.map((one) => objectOf(one)['composerId']) : []
  const selected: readonly unknown[] = Array.isArray(selectedComposerIds) ? selectedComposerIds : []
  return [...all, ...selected].filter((id) => typeof id === 'string')
}

/** The ids of the sessions that a workspace's database names. */
const composersOf = rememberListing((path) =>
  readDatabase(path, (database): readonly string[] => {
    if (!columnsOf(database, 'ItemTable').has('value')) return []
    return database
      .prepare(
        `SELECT key, CAST(value AS TEXT) AS value FROM source.ItemTable
         WHERE key IN ('composer.composerData', '${PANE}') OR (key >= '${PANE}.' AND key < '${PANE}/')`,
      )
      .all()
      .flatMap(({ key, value }) => idsIn(String(key), parseObject(String(value)) ?? {}))
  }),
)

/** The project folders that workspaces name, by session id. They are searched at the first call. */
export type Projects = () => Promise<ReadonlyMap<string, string>>

const findProjects = async (database: string): Promise<ReadonlyMap<string, string>> => {
  const projects = new Map<string, string>()
  for (const workspace of await foldersIn(workspacesBeside(database))) {
    const folder = await folderOf(workspace)
    if (folder === undefined) continue
    const ids = await composersOf.latest(join(workspace, 'state.vscdb')).catch(() => [])
    for (const id of ids) if (!projects.has(id)) projects.set(id, folder)
  }
  return projects
}

export const projectsOf = (database: string): Projects => {
  let found: ReturnType<Projects> | undefined
  return () => (found ??= findProjects(database))
}

/** The path of a session's project (README, rule 11). */
export const projectOf = async (
  database: string,
  id: string,
  { workspaceIdentifier }: Json,
  projects: Projects,
): Promise<string | undefined> => {
  const { id: workspace, uri } = objectOf(workspaceIdentifier)
  const named = isObject(uri) ? (textOf(uri['fsPath']) ?? textOf(uri['path'])) : undefined
  if (named !== undefined) return named
  const isName = typeof workspace === 'string' && basename(workspace) === workspace && !/^\.*$/.test(workspace)
  const folder = isName ? await folderOf(join(workspacesBeside(database), workspace)) : undefined
  return folder ?? (await projects()).get(id)
}

/** A path in the form of the names of transcripts' folders, without what differs between versions. */
const encoded = (path: string): string => path.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')

/** The workspace's folder whose path is written as `name`; undefined if there is none, or more than one. */
export const folderNamed = async (databases: readonly string[], name: string): Promise<string | undefined> => {
  const found = new Set<string>()
  for (const database of databases)
    for (const workspace of await foldersIn(workspacesBeside(database))) {
      const folder = await folderOf(workspace)
      if (folder !== undefined && encoded(folder) === encoded(name)) found.add(folder)
    }
  return found.size === 1 ? [...found][0] : undefined
}
