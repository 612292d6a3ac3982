import jsonc, { type Node, type ParseError } from 'jsonc-parser'
import { UsageError } from '../../cli/exit.ts'

/** A piece of text that was inserted at the beginning of an object or an array, which its path names. */
export type Piece = { readonly container: readonly string[]; readonly text: string }

/** A text, and the pieces that were inserted into it, in the order of insertion. */
export type Inserted = { readonly text: string; readonly pieces: readonly Piece[] }

export const parse = (text: string, allowTrailingComma = true): Node | undefined => {
  const errors: ParseError[] = []
  const root = jsonc.parseTree(text, errors, { allowTrailingComma })
  return errors.length === 0 ? root : undefined
}

/** Settings as a tree. `whose` says in the error whose settings they should be. Throws UsageError if they are not an object. */
export const treeOf = (text: string, whose: string): Node => {
  const root = parse(text)
  if (root?.type !== 'object')
    throw new UsageError(`expected a JSON object with settings of ${whose}, got something else: correct the file first`)
  return root
}

export const valueAt = (root: Node, ...path: (string | number)[]): Node | undefined =>
  jsonc.findNodeAtLocation(root, path)

/** The line break and the indentation that a file uses. */
export type Style = { readonly eol: string; readonly step: string }

export const styleOf = (text: string): Style => ({
  eol: text.includes('\r\n') ? '\r\n' : '\n',
  step: /^([ \t]+)"/m.exec(text)?.[1] ?? '  ',
})

/** The JSON text of a value, indented for its depth in a file. */
export const jsonAt = (value: unknown, depth: number, { eol, step }: Style): string =>
  JSON.stringify(value, undefined, step).replaceAll('\n', eol + step.repeat(depth))

/** Inserts an entry before all others of an object or an array, which stay as they are. */
export const insertFirst = (
  text: string,
  container: readonly string[],
  entry: string,
  { eol, step }: Style,
): Inserted => {
  const { offset, children = [] } = valueAt(parse(text)!, ...container)!
  const [at, depth] = [offset + 1, container.length + 1]
  const hasOwnBreak = /^[ \t]*\r?\n/.test(text.slice(at))
  const isEmpty = children.length === 0
  const comma = isEmpty ? '' : ','
  const end = hasOwnBreak ? '' : eol + step.repeat(isEmpty ? depth - 1 : depth)
  const piece = eol + step.repeat(depth) + entry + comma + end
  return { text: text.slice(0, at) + piece + text.slice(at), pieces: [{ container, text: piece }] }
}

export const isThere = (root: Node, path: readonly string[], type: 'object' | 'array'): boolean => {
  const node = valueAt(root, ...path)
  if (node && node.type !== type)
    throw new UsageError(`expected "${path.join('.')}" to be an ${type}, got ${node.type}: correct the file first`)
  return node !== undefined
}

/** Removes the pieces, the last one first. Undefined if one is not where it was inserted, or if the rest still has an entry of Tracebook (`isOut`). */
export const cutPieces = (
  text: string,
  pieces: readonly Piece[],
  isOut: (rest: string) => boolean,
): string | undefined => {
  let rest = text
  for (const piece of pieces.toReversed()) {
    const root = parse(rest)
    const container = root && valueAt(root, ...piece.container)
    if (!container || !rest.startsWith(piece.text, container.offset + 1)) return undefined
    rest = rest.slice(0, container.offset + 1) + rest.slice(container.offset + 1 + piece.text.length)
  }
  const isAsBefore = parse(rest, false) !== undefined || parse(text, false) === undefined
  return isAsBefore && parse(rest) && isOut(rest) ? rest : undefined
}

/** Removes the value at a path, and a comma with it. */
export const removeAt = (text: string, path: readonly (string | number)[]): string => {
  const { eol, step } = styleOf(text)
  const formattingOptions = { insertSpaces: !step.includes('\t'), tabSize: step.length, eol }
  return jsonc.applyEdits(text, jsonc.modify(text, [...path], undefined, { formattingOptions }))
}
