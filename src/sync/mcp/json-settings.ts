import jsonc from 'jsonc-parser'
import type { Edits } from '../hooks/edited-file.ts'
import {
  type Inserted,
  cutPieces,
  insertFirst,
  isThere,
  jsonAt,
  parse,
  removeAt,
  styleOf,
  treeOf,
  valueAt,
} from '../hooks/json-pieces.ts'
import { SERVER_NAME, type ServerEntry } from './server-entry.ts'

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
