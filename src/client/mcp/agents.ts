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

/** How the server is found in, added to and removed from a kind of settings. */
type Kind = {
  readonly edits: Edits
  /** Whether the settings have just this entry. */
  readonly has: (text: string, entry: ServerEntry) => boolean
  /** Adds the entry. All else stays as it is. @throws UsageError if that is not possible */
  readonly add: (text: string, entry: ServerEntry) => Inserted
  /** @throws UsageError if the settings cannot be read */
  readonly check: (text: string) => void
}

/** Settings in JSON, also with comments: the servers by their names in one member, each in the form of its agent. */
type JsonForm = { readonly servers: string; readonly formOf: (entry: ServerEntry) => object }

/** As `claude mcp add`, `gemini mcp add` and `qwen mcp add` write it; Cursor reads the same. */
export const commonForm: JsonForm = { servers: 'mcpServers', formOf: (entry) => entry }

/** As `opencode mcp add` writes it. */
export const opencodeForm: JsonForm = {
  servers: 'mcp',
  formOf: ({ command, args, env }) => ({ type: 'local', command: [command, ...args], environment: env }),
}

/** Our entry is added in front of other servers. `whose` names the agent in errors. */
export const jsonKind = (whose: string, { servers, formOf }: JsonForm): Kind => {
  const ours = (text: string) => {
    const root = parse(text)
    return root && valueAt(root, servers, SERVER_NAME)
  }
  const isOut = (text: string): boolean => ours(text) === undefined

  const remove: Edits['remove'] = (text, pieces) => {
    const cut = pieces.length > 0 ? cutPieces(text, pieces, isOut) : undefined
    if (cut !== undefined) return cut
    const all = valueAt(parse(text)!, servers)
    return removeAt(text, all?.children?.length === 1 ? [servers] : [servers, SERVER_NAME])
  }
  const has: Kind['has'] = (text, entry) => {
    const found = ours(text)
    return found !== undefined && JSON.stringify(jsonc.getNodeValue(found)) === JSON.stringify(formOf(entry))
  }
  const add: Kind['add'] = (text, entry) => {
    const style = styleOf(text)
    const root = treeOf(text, whose)
    if (isThere(root, [servers], 'object'))
      return insertFirst(text, [servers], `"${SERVER_NAME}": ${jsonAt(formOf(entry), 2, style)}`, style)
    return insertFirst(text, [], `"${servers}": ${jsonAt({ [SERVER_NAME]: formOf(entry) }, 1, style)}`, style)
  }
  return {
    edits: { empty: '{}\n', isIn: (text) => !isOut(text), remove },
    has,
    add,
    check: (text) => void treeOf(text, whose),
  }
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

export const agentNames = ['claude-code', 'codex', 'cursor', 'gemini-cli', 'opencode', 'qwen-code'] as const
export type AgentName = (typeof agentNames)[number]

/** The server in the settings of an agent. */
export type InAgent = Pick<EditedFile, 'isInstalled' | 'uninstall'> & {
  readonly file: string
  /** Whether the agent has a folder on this machine. */
  readonly isHere: boolean
  /** Whether the server was installed, and has not been removed by `uninstall`. */
  readonly isRemembered: boolean
  /** Adds the server, and changes nothing else. Returns false if it is there already. Throws UsageError. */
  readonly install: (entry: ServerEntry) => Promise<boolean>
}

type Place = { readonly file: string; readonly folder: string }

const settingsIn = (folder: string): Place => ({ file: join(folder, 'settings.json'), folder })

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
  'gemini-cli': (env, home) => settingsIn(join(env['GEMINI_CLI_HOME'] || home, '.gemini')),
  opencode: (env, home) => {
    const folder = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'opencode')
    const files = ['opencode.json', 'opencode.jsonc'].map((name) => join(folder, name))
    return { file: files.find(existsSync) ?? files[0]!, folder }
  },
  'qwen-code': (env, home) => settingsIn(env['QWEN_HOME'] || join(home, '.qwen')),
}

const kinds: { readonly [Name in AgentName]: Kind } = {
  'claude-code': jsonKind('Claude Code', commonForm),
  codex: { edits: tomlEdits, has: hasTomlEntry, add: addTomlEntry, check: () => {} },
  cursor: jsonKind('Cursor', commonForm),
  'gemini-cli': jsonKind('Gemini CLI', commonForm),
  opencode: jsonKind('opencode', opencodeForm),
  'qwen-code': jsonKind('Qwen Code', commonForm),
}

/** `state`: the folder in which Tracebook remembers what it has added. Entries of others stay. */
export const inAgent = (name: AgentName, env: EnvironmentVariables, home: string, state: string): InAgent => {
  const { file, folder } = placeOf[name](env, home)
  const record = join(state, 'mcp', `${name}.json`)
  const kind = kinds[name]
  const edited = editedFile(file, record, kind.edits)
  const isInstalled = async () => existsSync(record) && (await edited.isInstalled())
  /** What cannot be read is left as it is, and what was added to it remembered. */
  const check = async () => {
    const text = await textOf(file)
    try {
      if (text !== undefined) kind.check(text)
    } catch (error) {
      throw error instanceof UsageError ? new UsageError(`${file}: ${error.message}`) : error
    }
  }
  const install = async (entry: ServerEntry) => {
    await check()
    const isThere = (text: string) => kind.has(text, entry)
    if (!existsSync(record) && (await edited.isInstalled()) && !isThere((await textOf(file))!))
      throw new UsageError(
        `${file}: it already has a server "${SERVER_NAME}" that this command has not written: remove that first`,
      )
    return edited.install((text) => kind.add(text, entry), isThere)
  }
  const uninstall = async () => {
    if (!existsSync(record)) return false
    await check()
    return edited.uninstall()
  }
  return { file, isHere: existsSync(folder), isRemembered: existsSync(record), isInstalled, install, uninstall }
}
