import type { KeyedHash } from '../../base/line-hashes.ts'
import { comparedLine, isWeakLine, splitLines } from '../../base/compared-lines.ts'
import type { Part } from '../../contract/message.ts'
import { type Edit, MOST_READ, editsInSteps, mayRead, pathRead } from '../../transcript/edits.ts'
import { linesOfPatch } from '../../transcript/patches.ts'
import { toolName } from '../../transcript/tool-names.ts'

/** Lines without white space that are not weak, each with how often it occurs. */
type Lines = ReadonlyMap<string, number>

/** What a call does to one file. */
export type WrittenFile = {
  readonly path: string
  /** Whether the call writes the whole file. Then the old lines are those that results showed before. */
  readonly isWhole: boolean
  readonly old: Lines
  readonly now: Lines
}

/** What a call writes and shows. `nth` counts the calls of its message. */
export type CallLines = {
  readonly nth: number
  readonly callId: string
  /** Equal for calls with the same id, tool and arguments. */
  readonly identity: string
  readonly files: readonly WrittenFile[]
  /** The path of the file that its result shows. */
  readonly shows: string | undefined
}

/** Of a call that writes more lines nothing is known. */
const MOST_WRITTEN = 20_000
/** Longer paths are no paths. */
const MOST_PATH = 4_096

/** A path with one kind of separators and one form of its characters. */
export const comparedPath = (path: string): string => path.replaceAll('\\', '/').normalize('NFC')

// No line and no id of a call begins with a space: so these hashes are never those of a line.
/** The hash of the last name in a path, which is stored with the lines of the file. */
export const hashOfName = (hash: KeyedHash, path: string): bigint =>
  hash(` name ${path.slice(path.lastIndexOf('/') + 1)}`)
export const hashOfPath = (hash: KeyedHash, path: string): bigint => hash(` path ${path}`)
export const hashOfCall = (hash: KeyedHash, id: string): bigint => hash(` call ${id}`)
export const hashOfIdentity = (hash: KeyedHash, identity: string): bigint => hash(` copy ${identity}`)

type Texts = { readonly old: readonly string[]; readonly now: readonly string[] }

const textsOf = (edit: Edit): Texts => {
  switch (edit.is) {
    case 'replacement':
      return { old: splitLines(edit.before), now: splitLines(edit.after) }
    case 'content':
      return { old: [], now: splitLines(edit.content) }
    case 'patch': {
      const lines = [...linesOfPatch(edit.patch, true)]
      const of = (kind: string) => lines.flatMap(({ is, text }) => (is === kind ? [text.slice(1)] : []))
      return { old: of('removed'), now: of('added') }
    }
    case 'unknown':
      return { old: [], now: [] }
  }
}

const addTo = (lines: Map<string, number>, texts: Iterable<string>): void => {
  for (const text of texts) {
    const line = comparedLine(text)
    if (!isWeakLine(line)) lines.set(line, (lines.get(line) ?? 0) + 1)
  }
}

/** The lines that occur more often in one text than in another one. */
export const without = (some: Lines, others: Lines): string[] =>
  [...some].flatMap(([line, count]) => (count > (others.get(line) ?? 0) ? [line] : []))

type OpenFile = Omit<WrittenFile, 'old' | 'now'> & {
  readonly old: Map<string, number>
  readonly now: Map<string, number>
}

const filesOf = (tool: string, args: Readonly<Record<string, unknown>>): WrittenFile[] => {
  const files = new Map<string, OpenFile>()
  for (const edit of editsInSteps(tool, args)) {
    if (edit?.path === undefined || edit.is === 'unknown' || edit.path.length > MOST_PATH) continue
    const path = comparedPath(edit.path)
    const isWhole = edit.is === 'content' && edit.isPart !== true
    const file = files.get(path) ?? { path, isWhole, old: new Map<string, number>(), now: new Map<string, number>() }
    files.set(path, file)
    const { old, now } = textsOf(edit)
    addTo(file.old, old)
    addTo(file.now, now)
  }
  return [...files.values()]
}

const occurrences = (files: readonly WrittenFile[]): number =>
  files.reduce((sum, { old, now }) => sum + without(now, old).length, 0)

/** For `JSON.stringify`: objects with the same members are one text, whatever the order in which these were sent. */
const withSortedNames = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** The calls of a message that write or show files. */
export const callsIn = (parts: readonly Part[]): CallLines[] => {
  const calls: CallLines[] = []
  let nth = -1
  for (const part of parts) {
    if (part.type !== 'tool_call') continue
    nth += 1
    if (!part.content) continue
    const { callId, toolName: name, args } = part.content
    const tool = toolName(name)
    const shows = pathRead(tool, args)
    const text = JSON.stringify(args)
    const all = Buffer.byteLength(text) > MOST_READ ? [] : filesOf(tool, args)
    const files = occurrences(all) > MOST_WRITTEN ? [] : all
    if (files.length === 0 && shows === undefined) continue
    const identity = JSON.stringify([callId, name, args], withSortedNames)
    calls.push({ nth, callId, identity, files, shows: shows === undefined ? undefined : comparedPath(shows) })
  }
  return calls
}

/** Whether calls of a tool may show files, by its name in `tools` of a message: rarely used tools are counted as `other`. */
export const mayShow = (tool: string): boolean => mayRead(tool) || tool === 'other'

/** What reading tools write before each line. */
const NUMBER = /^\s*\d+\s*(?:→|\t|\||:)/

/** Counts the lines of a file that a result shows, without their numbers if most of them have one. */
export const addShown = (shown: Map<string, number>, output: string): void => {
  const lines = splitLines(output)
  const isNumbered = lines.filter((line) => NUMBER.test(line)).length * 2 >= lines.length
  addTo(shown, isNumbered ? lines.map((line) => line.replace(NUMBER, '')) : lines)
}

/** The lines that a whole file has and that were not shown before, and those that were shown and that it does not have. */
export const changedFrom = (shown: Lines, now: Lines): { readonly written: string[]; readonly replaced: string[] } => ({
  written: without(now, shown),
  replaced: [...shown.keys()].filter((line) => !now.has(line)),
})
