import { UsageError } from '../../cli/exit.ts'
import type { Edits } from '../hooks/edited-file.ts'
import type { Inserted } from '../hooks/json-pieces.ts'
import { SERVER_NAME, type ServerEntry } from './server-entry.ts'

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
const textOf = (text: string): string => JSON.stringify(text).replace(DELETE, '\\u007f')

const tableOf = ({ command, args, env }: ServerEntry, eol: string): string => {
  const variables = Object.entries(env).map(([name, value]) => `${textOf(name)} = ${textOf(value)}`)
  return [
    HEADER,
    `command = ${textOf(command)}`,
    `args = [${args.map(textOf).join(', ')}]`,
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
