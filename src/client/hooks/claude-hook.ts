import { join } from 'node:path'
import { editedFile } from './edited-file.ts'
import { type Hook, hookLine, markOf } from './hook.ts'
import {
  cutPieces,
  type Inserted,
  insertFirst,
  isThere,
  jsonAt,
  parse,
  type Piece,
  removeAt,
  type Style,
  styleOf,
  treeOf,
  valueAt,
} from './json-pieces.ts'

/** After each turn, and at the end of a session. */
const EVENTS = ['Stop', 'SessionEnd'] as const

const WHOSE = 'Claude Code'

const MARK = markOf('claude-code')

const addEvent = (text: string, event: string, group: object, style: Style): Inserted => {
  const root = treeOf(text, WHOSE)
  if (!isThere(root, ['hooks'], 'object'))
    return insertFirst(text, [], `"hooks": ${jsonAt({ [event]: [group] }, 1, style)}`, style)
  if (!isThere(root, ['hooks', event], 'array'))
    return insertFirst(text, ['hooks'], `"${event}": ${jsonAt([group], 2, style)}`, style)
  return insertFirst(text, ['hooks', event], jsonAt(group, 3, style), style)
}

/** Adds a command to the hooks of Claude Code's settings. The rest of the text stays as it is. Throws UsageError. */
export const addClaudeHooks = (text: string, command: string): Inserted => {
  const [group, style] = [{ hooks: [{ type: 'command', command }] }, styleOf(text)]
  return EVENTS.reduce<Inserted>(
    ({ text: before, pieces }, event) => {
      const added = addEvent(before, event, group, style)
      return { text: added.text, pieces: [...pieces, ...added.pieces] }
    },
    { text, pieces: [] },
  )
}

/** Tracebook's commands in settings, with their places. */
const ourCommands = (text: string): { path: (string | number)[]; command: string }[] => {
  const root = parse(text)
  const groups = (event: string) => (root && valueAt(root, 'hooks', event)?.children) ?? []
  return EVENTS.flatMap((event) =>
    groups(event).flatMap((_, i) =>
      (valueAt(root!, 'hooks', event, i, 'hooks')?.children ?? []).flatMap((_hook, j) => {
        const path = ['hooks', event, i, 'hooks', j]
        const command: unknown = valueAt(root!, ...path, 'command')?.value
        return typeof command === 'string' && command.includes(MARK) ? [{ path, command }] : []
      }),
    ),
  )
}

/** Tracebook's commands in settings. */
export const claudeHooksIn = (text: string): readonly string[] => ourCommands(text).map(({ command }) => command)

/** Removes a command, and the lists and objects that would be empty without it. */
const removeCommand = (text: string, path: readonly (string | number)[]): string => {
  const root = treeOf(text, WHOSE)
  const isAlone = (length: number) => valueAt(root, ...path.slice(0, length))?.children?.length === 1
  // The array of commands, that of groups, and the object of events.
  const around = [4, 2, 1]
  const whole = around.findIndex((length) => !isAlone(length))
  const length = whole === -1 ? 1 : ([5, 3, 2][whole] ?? 1)
  return removeAt(text, path.slice(0, length))
}

/**
 * Removes these commands from the settings. With the pieces that were inserted, the text becomes what it was before, byte for
 * byte, except for what the user has changed elsewhere.
 */
export const removeClaudeHooks = (text: string, pieces: readonly Piece[]): string => {
  const isOut = (rest: string) => ourCommands(rest).length === 0
  const cut = pieces.length > 0 ? cutPieces(text, pieces, isOut) : undefined
  if (cut !== undefined) return cut
  let rest = text
  for (let found = ourCommands(rest); found.length > 0; found = ourCommands(rest))
    rest = removeCommand(rest, found[0]!.path)
  return rest
}

/** The hook in the settings of the user for Claude Code: `folder` is where they are, `state` where Tracebook remembers things. */
export const claudeHook = (folder: string, state: string): Hook => {
  const file = join(folder, 'settings.json')
  const { isInstalled, install, uninstall } = editedFile(file, join(state, 'hooks', 'claude-code.json'), {
    empty: '{}\n',
    isIn: (text) => claudeHooksIn(text).length > 0,
    remove: removeClaudeHooks,
  })
  return {
    file: () => Promise.resolve(file),
    isInstalled,
    install: (program) => {
      const command = hookLine('claude-code', program, true)
      return install(
        (text) => addClaudeHooks(text, command),
        (text) => claudeHooksIn(text).filter((one) => one === command).length === 2,
      )
    },
    uninstall,
  }
}
