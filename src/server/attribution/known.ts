import type { KeyedHash } from '../../base/line-hashes.ts'
import { toInt8 } from '../../base/line-hashes.ts'
import type { Hunk } from '../../contract/attribution.ts'
import type { ReadRows } from '../../eventstore/engine/snapshots.ts'
import { hashOfName } from '../trace/written-lines.ts'
import { type WrittenFile, writersOf } from './calls.ts'
import { type Known, MOST_SESSIONS, TOLERANCE } from './match.ts'
import { isSameFile, isSameRepository, repositoryName } from './places.ts'
import {
  type LineInFile,
  MOST_ROWS,
  type TraceRow,
  type WrittenRow,
  readArrivals,
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

type Asking = Pick<Question, 'hash' | 'now'>

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

/** A row with an asked line; undefined for a copy of its call that may have none. */
type AskedRow = { readonly row: Omit<WrittenRow, 'asked'>; readonly line: string | undefined }

const keyOf = ({ trace_id, ordinal, nth, file }: AskedRow['row']): string => `${trace_id}/${ordinal}/${nth}/${file}`

const copiesOf = async (read: ReadRows, rows: readonly AskedRow[]): Promise<AskedRow[]> => {
  const identities = new Set(rows.flatMap(({ row }) => (row.is_whole ? row.identity : [])))
  const found = identities.size === 0 ? [] : await readCopies(read, [...identities])
  return found.map((row) => ({ row, line: undefined }))
}

/** Reads the rows of all lines, and says of which there are more. */
const readRows = async (read: ReadRows, hunks: readonly Hunk[], { hash, now }: Asking) => {
  const lines = linesOf(hunks.flatMap(({ added }) => added))
  if (lines.length === 0) return { rows: [], isCut: new Set<string>() }
  const found = await readWriters(
    read,
    lines.map((line) => line.hash),
  )
  const rows = found.map((row) => ({ row, line: lines[row.asked - 1]!.text }))
  const counts = Map.groupBy(rows, ({ line }) => line)
  const isCut = new Set([...counts].flatMap(([line, all]) => (all.length === MOST_ROWS ? [line] : [])))
  const cut = inFiles(lines, isCut, hunks, { hash, now })
  if (cut.length > 0)
    for (const row of await readWritersInFiles(read, cut)) rows.push({ row, line: cut[row.asked - 1]!.text })
  return { rows: [...rows, ...(await copiesOf(read, rows))], isCut }
}

/** Makes files of rows, without those of traces that are not there any more, and of calls that failed. */
const filesOf = async (read: ReadRows, rows: readonly AskedRow[], traces: ReadonlyMap<string, TraceRow>) => {
  const present = rows.filter(({ row }) => traces.get(row.trace_id)?.incarnation === row.incarnation)
  const byFile = [...Map.groupBy(present, ({ row }) => keyOf(row)).values()]
  const keys = byFile.map(([first]) => {
    const { trace_id: traceId, ordinal, nth } = first!.row
    return { traceId, ordinal, nth }
  })
  const arrivals = byFile.length === 0 ? [] : await readArrivals(read, keys)
  return byFile.flatMap((all, i): WrittenFile[] => {
    const arrivedAt = arrivals[i]
    if (arrivedAt === undefined) return []
    const { row } = all[0]!
    const trace = traces.get(row.trace_id)!
    return [
      {
        ...keys[i]!,
        file: row.file,
        at: Number(row.at),
        arrivedAt,
        identity: row.identity,
        isWhole: row.is_whole,
        path: JSON.parse(row.path) as string,
        projectPath: textOf(trace.project_path),
        repository: repositoryName(textOf(trace.git_remote_url)),
        written: new Set(all.flatMap(({ line }) => line ?? [])),
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
  const places = [...new Map(replacing.map((hunk) => [JSON.stringify([hunk.path, hunk.previousPath]), hunk])).values()]
  const some = files.filter(
    (file) => isSameRepository(file, repositories) && places.some((hunk) => isSameFile(file, hunk)),
  )
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
}

/** Reads what the lines of hunks may be compared with, and the traces that it is of. */
export const readKnown = async (read: ReadRows, question: Question) => {
  const { hunks, namespaceId, now, without, isShown } = question
  const { rows, isCut } = await readRows(read, hunks, question)
  const ids = [...new Set(rows.map(({ row }) => row.trace_id))].filter(isShown)
  const found = ids.length === 0 ? [] : await readTraces(read, ids, namespaceId)
  const traces = new Map(found.map((row) => [row.id, row]))
  const writers = writersOf(await filesOf(read, rows, traces), without)
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
