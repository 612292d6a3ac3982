import type { KeyedHash } from '../../base/line-hashes.ts'
import { toInt8 } from '../../base/line-hashes.ts'
import type { Hunk } from '../../contract/attribution.ts'
import type { ReadRows } from '../../eventstore/engine/in-snapshot.ts'
import { hashOfName } from '../trace/written-lines.ts'
import { type WrittenFile, writersOf } from './calls.ts'
import type { CommonLines } from './common-lines.ts'
import { MOST_SESSIONS, TOLERANCE } from './kinds.ts'
import type { Known } from './match.ts'
import { isSameRepository, repositoryName, sameFileAs } from './places.ts'
import {
  type LineInFile,
  MOST_ROWS,
  type TraceRow,
  type WrittenRow,
  readArrivals,
  readCommon,
  readCopies,
  readReplaced,
  readTraces,
  readWriters,
  readWritersInFiles,
} from './queries.ts'

const textOf = (json: string | null): string | undefined => (json === null ? undefined : (JSON.parse(json) as string))

/** The hash of an asked line, as it was asked and as it is stored. */
type Line = { readonly text: string; readonly hash: bigint }

const linesOf = (all: Iterable<string>): Line[] =>
  [...new Set(all)].filter((text) => text !== '').map((text) => ({ text, hash: toInt8(text) }))

type Asking = Pick<Question, 'hash' | 'now' | 'commonLines' | 'turn'>

/** The lines that more calls wrote than were read, each with the names of the files that it is asked for. */
const inFiles = (lines: readonly Line[], isCut: ReadonlySet<string>, hunks: readonly Hunk[], { hash, now }: Asking) => {
  const wanted = new Map<string, LineInFile & { readonly text: string }>()
  const byText = new Map(lines.map((line) => [line.text, line]))
  for (const { added, path, previousPath, at = now, until = at } of hunks)
    for (const one of previousPath === undefined ? [path] : [path, previousPath]) {
      const name = hashOfName(hash, one.normalize('NFC'))
      const latest = Math.max(at, until) + TOLERANCE
      for (const text of added)
        if (isCut.has(text)) wanted.set(`${text}${name}${latest}`, { text, hash: byText.get(text)!.hash, name, latest })
    }
  return [...wanted.values()]
}

/** A file that a call wrote, with the asked lines that are known to be in it: a copy of a call may have none. */
type AskedFile = { readonly row: Omit<WrittenRow, 'asked'>; readonly written: Set<string> }

type Files = Map<string, AskedFile>

const addRow = (files: Files, row: Omit<WrittenRow, 'asked'>): AskedFile => {
  const key = `${row.trace_id}/${row.ordinal}/${row.nth}/${row.file}`
  let file = files.get(key)
  if (!file) files.set(key, (file = { row, written: new Set() }))
  return file
}

/** How many lines are looked for at once. */
const AT_ONCE = 500

/** Reads the calls of each line, and says of which lines there are more. Of common lines it reads none. */
const readByLine = async (read: ReadRows, files: Files, lines: readonly Line[], asking: Asking) => {
  const { commonLines, now, turn } = asking
  const isCut = new Set<string>()
  const isCommon = ({ hash }: Line) => commonLines.has(hash, now) === true
  const rare = lines.filter((line) => !isCommon(line))
  for (const line of lines) if (isCommon(line)) isCut.add(line.text)
  for (let from = 0; from < rare.length; from += AT_ONCE) {
    const some = rare.slice(from, from + AT_ONCE)
    const rows = await readWriters(
      read,
      some.map(({ hash }) => hash),
    )
    const counts = some.map(() => 0)
    for (const { asked } of rows) for (const nth of asked) counts[nth - 1]! += 1
    const cut = some.filter((_, i) => counts[i] === MOST_ROWS)
    await noteCommon(read, cut, asking)
    for (const line of cut) isCut.add(line.text)
    for (const row of rows) {
      const own = row.asked.map((nth) => some[nth - 1]!).filter((line) => !isCommon(line))
      if (own.length === 0) continue
      const { written } = addRow(files, row)
      for (const { text } of own) written.add(text)
      await turn()
    }
  }
  return isCut
}

/** Finds out which of lines that very many calls wrote are common, where that is not known. */
const noteCommon = async (read: ReadRows, cut: readonly Line[], { commonLines, now }: Asking): Promise<void> => {
  const hashes = cut.map(({ hash }) => hash).filter((hash) => commonLines.has(hash, now) === undefined)
  if (hashes.length === 0) return
  const common = await readCommon(read, hashes)
  for (const [i, hash] of hashes.entries()) commonLines.note(hash, common.has(i), now)
}

const addCopies = async (read: ReadRows, files: Files): Promise<void> => {
  const identities = new Set([...files.values()].flatMap(({ row }) => (row.is_whole ? row.identity : [])))
  if (identities.size > 0) for (const row of await readCopies(read, [...identities])) addRow(files, row)
}

/** Reads the rows of all lines, and says of which there are more. */
const readRows = async (read: ReadRows, hunks: readonly Hunk[], asking: Asking) => {
  const files: Files = new Map()
  const lines = linesOf(hunks.flatMap(({ added }) => added))
  const isCut = await readByLine(read, files, lines, asking)
  const cut = inFiles(lines, isCut, hunks, asking)
  if (cut.length > 0)
    for (const row of await readWritersInFiles(read, cut)) {
      const { written } = addRow(files, row)
      for (const nth of row.asked) written.add(cut[nth - 1]!.text)
    }
  await addCopies(read, files)
  return { files: [...files.values()], isCut }
}

/** Makes files of rows, without those of traces that are not there any more, and of calls that failed. */
const filesOf = async (read: ReadRows, asked: readonly AskedFile[], traces: ReadonlyMap<string, TraceRow>) => {
  const present = asked.filter(({ row }) => traces.get(row.trace_id)?.incarnation === row.incarnation)
  const keys = present.map(({ row: { trace_id: traceId, incarnation, ordinal, nth } }) => {
    return { traceId, incarnation, ordinal, nth }
  })
  const arrivals = keys.length === 0 ? [] : await readArrivals(read, keys)
  return present.flatMap(({ row, written }, i): WrittenFile[] => {
    const arrivedAt = arrivals[i]
    if (arrivedAt === undefined) return []
    const trace = traces.get(row.trace_id)!
    return [
      {
        ...{ traceId: row.trace_id, ordinal: row.ordinal, nth: row.nth, file: row.file },
        at: Number(row.at),
        arrivedAt,
        identity: row.identity,
        isWhole: row.is_whole,
        path: JSON.parse(row.path) as string,
        projectPath: textOf(trace.project_path),
        repository: repositoryName(textOf(trace.git_remote_url)),
        written,
      },
    ]
  })
}

const NONE: ReadonlySet<string> = new Set()

/** Reads which of the removed lines were replaced by calls in the same files. */
const readReplacedLines = async (
  read: ReadRows,
  hunks: readonly Hunk[],
  files: readonly WrittenFile[],
  repositories: ReadonlySet<string>,
): Promise<Map<WrittenFile, Set<string>>> => {
  const replacing = hunks.filter(({ removed = [] }) => removed.some((text) => text !== ''))
  const places = new Map(replacing.map((hunk) => [JSON.stringify([hunk.path, hunk.previousPath]), sameFileAs(hunk)]))
  const isSame = [...places.values()]
  const some = files.filter((file) => isSameRepository(file, repositories) && isSame.some((isOne) => isOne(file)))
  const lines = linesOf(replacing.flatMap(({ removed = [] }) => removed))
  const replaced = new Map<WrittenFile, Set<string>>()
  if (some.length === 0) return replaced
  const texts = new Map(lines.map(({ text, hash }) => [hash, text]))
  for (const { asked, hash } of await readReplaced(
    read,
    some,
    lines.map((line) => line.hash),
  )) {
    const file = some[asked - 1]!
    replaced.set(file, (replaced.get(file) ?? new Set()).add(texts.get(hash)!))
  }
  return replaced
}

export type Question = {
  readonly namespaceId: string
  /** The keyed hash of the namespace. */
  readonly hash: KeyedHash
  readonly hunks: readonly Hunk[]
  readonly repositories: readonly string[]
  /** The ids of traces that do not count. */
  readonly without: ReadonlySet<string>
  /** Whether a trace may be shown: it is not in quarantine. */
  readonly isShown: (traceId: string) => boolean
  readonly now: number
  readonly commonLines: CommonLines
  /** Awaited again and again, so that other work of the event loop gets its turn. */
  readonly turn: () => Promise<void>
}

/** Reads what the lines of hunks may be compared with, and the traces that it is of. */
export const readKnown = async (read: ReadRows, question: Question) => {
  const { hunks, namespaceId, now, without, isShown, turn } = question
  const { files: asked, isCut } = await readRows(read, hunks, question)
  const ids = [...new Set(asked.map(({ row }) => row.trace_id))].filter(isShown)
  const found = ids.length === 0 ? [] : await readTraces(read, ids, namespaceId)
  const traces = new Map(found.map((row) => [row.id, row]))
  const writers = await writersOf(await filesOf(read, asked, traces), without, turn)
  const files = [...new Set([...writers.values()].flat())]
  const repositories = new Set(question.repositories.flatMap((address) => repositoryName(address) ?? []))
  const replaced = await readReplacedLines(read, hunks, files, repositories)
  const known: Known = {
    writers,
    // Of a line that was not read to the end there may be further sessions: it proves nothing by itself.
    sessions: (line) =>
      isCut.has(line) ? MOST_SESSIONS + 1 : new Set(writers.get(line)?.map(({ traceId }) => traceId)).size,
    replaced: (file) => replaced.get(file) ?? NONE,
    repositories,
    now,
  }
  return { known, traces }
}
