import jsonc, { type Node, type ParseError } from 'jsonc-parser'
import { UsageError } from '../../cli/exit.ts'

/** After each turn, and at the end of a session. */
const EVENTS = ['Stop', 'SessionEnd'] as const

/** One piece of text that was put in front of all else in an object or an array, which is named by its path. */
export type Piece = { readonly container: readonly string[]; readonly text: string }

/** A text with what was put into it, in the order in which it was. */
export type Inserted = { readonly text: string; readonly pieces: readonly Piece[] }

const parse = (text: string, allowTrailingComma: boolean): Node | undefined => {
  const errors: ParseError[] = []
  const root = jsonc.parseTree(text, errors, { allowTrailingComma })
  return errors.length === 0 ? root : undefined
}

/** The settings as a tree; that of `{}` for an empty file. Throws UsageError if it is not a settings file. */
const treeOf = (text: string): Node => {
  const root = parse(text, true)
  if (root?.type !== 'object')
    throw new UsageError(
      'expected a JSON object with settings of Claude Code, got something else: correct the file first',
    )
  return root
}

const valueAt = (root: Node, ...path: (string | number)[]): Node | undefined => jsonc.findNodeAtLocation(root, path)

/** The line break and the indentation that a file uses. */
type Style = { readonly eol: string; readonly step: string }

const styleOf = (text: string): Style => ({
  eol: text.includes('\r\n') ? '\r\n' : '\n',
  step: /^([ \t]+)"/m.exec(text)?.[1] ?? '  ',
})

/** JSON of a value, as it stands at a depth of a file. */
const jsonAt = (value: unknown, depth: number, { eol, step }: Style): string =>
  JSON.stringify(value, undefined, step).replaceAll('\n', eol + step.repeat(depth))

/** Puts an entry in front of all others of an object or an array, which stay as they are. */
const insertFirst = (text: string, container: readonly string[], entry: string, { eol, step }: Style): Inserted => {
  const { offset, children = [] } = valueAt(treeOf(text), ...container)!
  const [at, depth] = [offset + 1, container.length + 1]
  const hasOwnBreak = /^[ \t]*\r?\n/.test(text.slice(at))
  const isEmpty = children.length === 0
  const comma = isEmpty ? '' : ','
  const end = hasOwnBreak ? '' : eol + step.repeat(isEmpty ? depth - 1 : depth)
  const piece = eol + step.repeat(depth) + entry + comma + end
  return { text: text.slice(0, at) + piece + text.slice(at), pieces: [{ container, text: piece }] }
}

const isThere = (root: Node, path: readonly string[], type: 'object' | 'array'): boolean => {
  const node = valueAt(root, ...path)
  if (node && node.type !== type)
    throw new UsageError(`expected "${path.join('.')}" to be an ${type}, got ${node.type}: correct the file first`)
  return node !== undefined
}

const addEvent = (text: string, event: string, group: object, style: Style): Inserted => {
  const root = treeOf(text)
  if (!isThere(root, ['hooks'], 'object'))
    return insertFirst(text, [], `"hooks": ${jsonAt({ [event]: [group] }, 1, style)}`, style)
  if (!isThere(root, ['hooks', event], 'array'))
    return insertFirst(text, ['hooks'], `"${event}": ${jsonAt([group], 2, style)}`, style)
  return insertFirst(text, ['hooks', event], jsonAt(group, 3, style), style)
}

/** Adds a command to the hooks of Claude Code's settings. All else in the text stays as it is. Throws UsageError. */
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

/** The commands in the hooks that hold `mark`, with their places. */
const commandsWith = (text: string, mark: string): { path: (string | number)[]; command: string }[] => {
  const root = parse(text, true)
  const groups = (event: string) => (root && valueAt(root, 'hooks', event)?.children) ?? []
  return EVENTS.flatMap((event) =>
    groups(event).flatMap((_, i) =>
      (valueAt(root!, 'hooks', event, i, 'hooks')?.children ?? []).flatMap((_hook, j) => {
        const path = ['hooks', event, i, 'hooks', j]
        const command: unknown = valueAt(root!, ...path, 'command')?.value
        return typeof command === 'string' && command.includes(mark) ? [{ path, command }] : []
      }),
    ),
  )
}

/** The commands of ours in settings. */
export const claudeHooksIn = (text: string, mark: string): readonly string[] =>
  commandsWith(text, mark).map(({ command }) => command)

/** Takes the last piece out first. Undefined when one is not where it was put. */
const cutPieces = (text: string, pieces: readonly Piece[], mark: string): string | undefined => {
  let rest = text
  for (const piece of pieces.toReversed()) {
    const root = parse(rest, true)
    const container = root && valueAt(root, ...piece.container)
    if (!container || !rest.startsWith(piece.text, container.offset + 1)) return undefined
    rest = rest.slice(0, container.offset + 1) + rest.slice(container.offset + 1 + piece.text.length)
  }
  const isAsBefore = parse(rest, false) !== undefined || parse(text, false) === undefined
  return isAsBefore && parse(rest, true) && commandsWith(rest, mark).length === 0 ? rest : undefined
}

/** Removes a command, and what would hold nothing without it. */
const removeCommand = (text: string, path: readonly (string | number)[]): string => {
  const root = treeOf(text)
  const isAlone = (length: number) => valueAt(root, ...path.slice(0, length))?.children?.length === 1
  // The array of commands, that of groups, and the object of events.
  const around = [4, 2, 1]
  const whole = around.findIndex((length) => !isAlone(length))
  const length = whole === -1 ? 1 : ([5, 3, 2][whole] ?? 1)
  const { eol, step } = styleOf(text)
  const formattingOptions = { insertSpaces: !step.includes('\t'), tabSize: step.length, eol }
  return jsonc.applyEdits(text, jsonc.modify(text, path.slice(0, length), undefined, { formattingOptions }))
}

/**
 * Takes the commands with `mark` out of the settings. With the pieces that were inserted the text becomes what it was before,
 * byte for byte, but for what the user has changed elsewhere.
 */
export const removeClaudeHooks = (text: string, mark: string, pieces: readonly Piece[]): string => {
  const cut = pieces.length > 0 ? cutPieces(text, pieces, mark) : undefined
  if (cut !== undefined) return cut
  let rest = text
  for (let found = commandsWith(rest, mark); found.length > 0; found = commandsWith(rest, mark))
    rest = removeCommand(rest, found[0]!.path)
  return rest
}
