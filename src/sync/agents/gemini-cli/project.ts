import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { type Json, objectOf, parseObject, textOf } from '../support/json.ts'

const read = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined)

const hashOf = (path: string): string => createHash('sha256').update(path).digest('hex')

const strings = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []

/** The folder that holds `chats`, in `<root>/<project>`; undefined for a file that lies elsewhere. */
const projectFolder = (path: string): string | undefined => {
  const end = path.lastIndexOf(`${sep}chats${sep}`)
  return end === -1 ? undefined : path.slice(0, end)
}

/** The path of the project to which a session belongs, as far as the CLI's files tell it (README, rule 9). */
export const projectPathOf = async (path: string, metadata: Json): Promise<string | undefined> => {
  const folder = projectFolder(path)
  const named = folder && textOf(await read(join(folder, '.project_root')))
  if (named) return named.trim()
  const registry = folder && parseObject((await read(join(folder, '..', '..', 'projects.json'))) ?? '')
  const candidates = [...Object.keys(objectOf(objectOf(registry)['projects'])), ...strings(metadata['directories'])]
  return candidates.find((candidate) => hashOf(candidate) === metadata['projectHash'])
}
