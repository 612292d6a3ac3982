import { existsSync } from 'node:fs'
import { join } from 'node:path'
import jsonc from 'jsonc-parser'
import { UsageError } from '../../cli/exit.ts'
import type { EnvironmentVariables } from '../agents/agent.ts'
import { type EditedFile, editedFile, type Edits } from '../hooks/edited-file.ts'
import {
  cutPieces,
  type Inserted,
  insertFirst,
  isThere,
  jsonAt,
  parse,
  removeAt,
  styleOf,
  treeOf,
  valueAt,
} from '../hooks/json-pieces.ts'
import { textOf } from '../hooks/rewrite-file.ts'

/** How an agent starts the server of `tracebook mcp`. */
export type ServerEntry = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The name of the server in the settings of agents. */
const SERVER_NAME = 'tracebook'

/** The settings of Claude Code and Cursor: JSON, with the servers by their names in `mcpServers`. */

const SERVERS = 'mcpServers'

const ours = (text: string) => {
  const root = parse(text)
  return root && valueAt(root, SERVERS, SERVER_NAME)
}

const isOut = (text: string): boolean => ours(text) === undefined

export const jsonEdits: Edits = {
  empty: '{}\n',
  isIn: (text) => !isOut(text),
  remove: (text, pieces) => {
    const cut = pieces.length > 0 ? cutPieces(text, pieces, isOut) : undefined
    if (cut !== undefined) return cut
    const servers = valueAt(parse(text)!, SERVERS)
    return removeAt(text, servers?.children?.length === 1 ? [SERVERS] : [SERVERS, SERVER_NAME])
  },
}

/** Whether the settings have just this entry. */
export const hasJsonEntry = (text: string, entry: ServerEntry): boolean => {
  const found = ours(text)
  return found !== undefined && JSON.stringify(jsonc.getNodeValue(found)) === JSON.stringify(entry)
}

/** Adds the entry in front of other servers. All else stays as it is. Throws UsageError. */
export const addJsonEntry = (text: string, entry: ServerEntry, whose: string): Inserted => {
  const style = styleOf(text)
  const root = treeOf(text, whose)
  if (isThere(root, [SERVERS], 'object'))
    return insertFirst(text, [SERVERS], `"${SERVER_NAME}": ${jsonAt(entry, 2, style)}`, style)
  return insertFirst(text, [], `"${SERVERS}": ${jsonAt({ [SERVER_NAME]: entry }, 1, style)}`, style)
}

/** The settings of Codex: TOML, with a table for each server. Ours is put at the end, where it changes the meaning of nothing else. */

const HEADER = `[mcp_servers.${SERVER_NAME}]`

const linesOf = (text: string): string[] => text.split(/(?<=\n)/)

/** A line without spaces and quotes, which do not change its meaning. */
const bare = (line: string): string => line.replaceAll(/[\s"']/g, '')

const isHeader = (line: string): boolean => line.trimStart().startsWith('[')
const isOurs = (line: string): boolean => bare(line).startsWith(HEADER)

/** Whether a line has Tracebook's server, or all servers, in another form than a table with a header. */
const isOtherwise = (line: string): boolean =>
  bare(line).startsWith('mcp_servers=') || /^\[?mcp_servers\.tracebook(?![\w-])/.test(bare(line))

/** The text without our table, which goes from its header to the next one. */
const withoutTable = (text: string): string => {
  const lines = linesOf(text)
  const from = lines.findIndex(isOurs)
  const next = lines.findIndex((line, i) => i > from && isHeader(line))
  return [...lines.slice(0, from), ...(next < 0 ? [] : lines.slice(next))].join('')
}

export const tomlEdits: Edits = {
  empty: '',
  isIn: (text) => linesOf(text).some(isOurs),
  remove: (text, pieces) => {
    const [piece] = pieces
    const at = piece ? text.lastIndexOf(piece.text) : -1
    return at < 0 ? withoutTable(text) : text.slice(0, at) + text.slice(at + piece!.text.length)
  },
}

const DELETE = /\u007f/g
/** A string of JSON is a string of TOML, except for one character. */
const tomlString = (text: string): string => JSON.stringify(text).replace(DELETE, '\\u007f')

const tableOf = ({ command, args, env }: ServerEntry, eol: string): string => {
  const variables = Object.entries(env).map(([name, value]) => `${tomlString(name)} = ${tomlString(value)}`)
  return [
    HEADER,
    `command = ${tomlString(command)}`,
    `args = [${args.map(tomlString).join(', ')}]`,
    ...(variables.length > 0 ? [`env = { ${variables.join(', ')} }`] : []),
    '',
  ].join(eol)
}

const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

/** Whether the settings have just this table. */
export const hasTomlEntry = (text: string, entry: ServerEntry): boolean => text.includes(tableOf(entry, eolOf(text)))

/** Adds a table at the end. Throws UsageError if the servers are written in a form to which no table can be added. */
export const addTomlEntry = (text: string, entry: ServerEntry): Inserted => {
  if (linesOf(text).some(isOtherwise))
    throw new UsageError('expected a table for each server, got another form: add the lines that --help shows by hand')
  const eol = eolOf(text)
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol
  const piece = gap + tableOf(entry, eol)
  return { text: text + piece, pieces: [{ container: [], text: piece }] }
}

export const agentNames = ['claude-code', 'codex', 'cursor'] as const
export type AgentName = (typeof agentNames)[number]

/** The server in the settings of an agent. */
export type InAgent = Pick<EditedFile, 'isInstalled' | 'uninstall'> & {
  readonly file: string
  /** Whether the agent has a folder on this machine. */
  readonly isHere: boolean
  /** Adds the server, and changes nothing else. Returns false if it is there already. Throws UsageError. */
  readonly install: (entry: ServerEntry) => Promise<boolean>
}

type Place = { readonly file: string; readonly folder: string }

/** Where the agents read the servers of a user. */
const placeOf: { readonly [Name in AgentName]: (env: EnvironmentVariables, home: string) => Place } = {
  'claude-code': (env, home) => {
    // The file is beside the default folder, but inside of a folder that the variable names.
    const [named] = (env['CLAUDE_CONFIG_DIR'] ?? '').split(',').flatMap((folder) => folder.trim() || [])
    return { file: join(named ?? home, '.claude.json'), folder: named ?? join(home, '.claude') }
  },
  codex: (env, home) => {
    const folder = env['CODEX_HOME'] || join(home, '.codex')
    return { file: join(folder, 'config.toml'), folder }
  },
  cursor: (_env, home) => ({ file: join(home, '.cursor', 'mcp.json'), folder: join(home, '.cursor') }),
}

type Kind = {
  readonly edits: Edits
  readonly has: (text: string, entry: ServerEntry) => boolean
  readonly add: (text: string, entry: ServerEntry) => Inserted
}

const jsonOf = (whose: string): Kind => ({
  edits: jsonEdits,
  has: hasJsonEntry,
  add: (text, entry) => addJsonEntry(text, entry, whose),
})

const kinds: { readonly [Name in AgentName]: Kind } = {
  'claude-code': jsonOf('Claude Code'),
  codex: { edits: tomlEdits, has: hasTomlEntry, add: addTomlEntry },
  cursor: jsonOf('Cursor'),
}

/** `state`: the folder in which Tracebook remembers what it has added. Entries of others stay. */
export const inAgent = (name: AgentName, env: EnvironmentVariables, home: string, state: string): InAgent => {
  const { file, folder } = placeOf[name](env, home)
  const record = join(state, 'mcp', `${name}.json`)
  const kind = kinds[name]
  const edited = editedFile(file, record, kind.edits)
  const isInstalled = async () => existsSync(record) && (await edited.isInstalled())
  const install = async (entry: ServerEntry) => {
    const isThere = (text: string) => kind.has(text, entry)
    if (!existsSync(record) && (await edited.isInstalled()) && !isThere((await textOf(file))!))
      throw new UsageError(
        `${file}: it already has a server "${SERVER_NAME}" that this command has not written: remove that first`,
      )
    return edited.install((text) => kind.add(text, entry), isThere)
  }
  return {
    file,
    isHere: existsSync(folder),
    isInstalled,
    install,
    uninstall: async () => (await isInstalled()) && edited.uninstall(),
  }
}
