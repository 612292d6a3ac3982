import { statSync } from 'node:fs'
import type { ReadOptions, Session, SessionMessage } from '../agent.ts'
import type { ReadSessionFile } from './files.ts'
import { isZstd } from './chunks.ts'
import { type Checksums, checksumsOf, isAsRead, newChecksums } from './fingerprint.ts'
import { type KeptLines, linesAgain, newKeptLines } from './kept-lines.ts'
import { type Described, type LineParser, NeedsWhole } from './line-parser.ts'
import { beginning, type ObjectLine, objectLinesInParts, type Place } from './lines.ts'
import { type FileThen, readResumePoint, type ResumePoint, writeResumePoint } from './resume-point.ts'

/**
 * The lines of a file from the place `at` on, which moves with them, in parts (`linesInParts`). `onBytes` is called with all bytes of a
 * file of lines.
 */
type ReadLines = (
  path: string,
  size: number,
  onMalformed: (line: number) => void,
  at: Place,
  onBytes?: (bytes: Buffer) => void,
) => AsyncIterable<Iterable<ObjectLine>>

type Source<State, Saved> = {
  readonly path: string
  readonly size: number
  readonly parser: LineParser<State, Saved>
  readonly lines: ReadLines
}

/** The result of the first reading. `kept` are all lines of a small session, until its messages were made. */
type FirstReading<State> = {
  readonly state: State
  readonly described: Described
  readonly malformed: number
  /** The number of lines, where the parser understands none of them. */
  readonly unknown: number | undefined
  /** The checksums of all bytes from the file's beginning on. */
  readonly checksums: Checksums
  kept: KeptLines | undefined
}

const firstReading = async <State, Saved>(
  { path, size, parser, lines }: Source<State, Saved>,
  from: ResumePoint | undefined,
  onMalformed: ReadOptions['onMalformed'],
): Promise<FirstReading<State>> => {
  const malformed: number[] = []
  // A reading from a saved state reports them at its end, because it may start over and find the same lines again.
  const report = from ? (line: number) => void malformed.push(line) : onMalformed
  let count = 0
  const note = (line: number) => {
    if (from && line < from.next) return
    count++
    report(line)
  }
  const state = await parser.start({ path, size, saved: from?.saved as Saved | undefined, ahead: undefined })
  const [at, keeping] = [{ ...(from?.place ?? beginning()) }, newKeptLines(parser.keep)]
  const checksums = newChecksums(from && checksumsOf(from.fingerprint, from.place.offset))
  let [objects, isUnderstood] = [0, from !== undefined]
  for await (const part of lines(path, size, note, at, isZstd(path) ? undefined : checksums.add))
    for (const line of part) {
      objects++
      isUnderstood ||= parser.understands(line.json)
      parser.step(state, line)
      keeping.add(line)
    }
  const described = await parser.describe(state, path)
  if (from && described.externalId !== from.externalId) throw new NeedsWhole()
  for (const line of malformed) onMalformed(line)
  const unknown = isUnderstood || objects === 0 ? undefined : objects + count
  return { state, described, malformed: count, unknown, checksums: checksums.all(), kept: keeping.all(at) }
}

/** The first reading from a point on; undefined if the session has to be read as a whole. */
const resumedReading = async <State, Saved>(
  source: Source<State, Saved>,
  from: ResumePoint,
  onMalformed: ReadOptions['onMalformed'],
): Promise<FirstReading<State> | undefined> => {
  try {
    return await firstReading(source, from, onMalformed)
  } catch (error) {
    if (error instanceof NeedsWhole) return undefined
    throw error
  }
}

type Point = Omit<ResumePoint, 'fingerprint'>

/** The point at a place, from which a later reading can continue; undefined if it cannot. */
const pointAt = <State, Saved>(
  parser: LineParser<State, Saved>,
  state: State,
  place: Place,
  { externalId }: Described,
): Omit<Point, 'next'> | undefined => {
  const saved = parser.save(state)
  return saved === undefined ? undefined : { place: { ...place }, externalId, saved }
}

/** The second reading: yields the messages, and calls `onEnd` with the point from which a later reading continues. */
async function* secondReading<State, Saved>(
  { path, size, parser, lines }: Source<State, Saved>,
  from: ResumePoint | undefined,
  { state: ahead, described, kept }: FirstReading<State>,
  onEnd: (point: Point | undefined) => Promise<void>,
): AsyncGenerator<SessionMessage> {
  const state = await parser.start({ path, size, saved: from?.saved as Saved | undefined, ahead })
  const at = { ...(from?.place ?? beginning()) }
  const open = parser.firstOpenLine?.(ahead) ?? Infinity
  let point: { readonly found: ReturnType<typeof pointAt> } | undefined
  for await (const part of kept ? [linesAgain(kept, at)] : lines(path, size, () => {}, at))
    for (const line of part) {
      if (line.number >= open || !line.ended) point ??= { found: pointAt(parser, state, at, described) }
      for (const message of parser.step(state, line)) yield message
    }
  const { found } = point ?? { found: pointAt(parser, state, at, described) }
  await onEnd(found && { ...found, next: at.line })
}

const changedAt = (path: string): string => String(statSync(path, { bigint: true }).mtimeNs)

/** Whether a file was not written since; false if it was deleted. */
const isUnwritten = (path: string, { changed }: FileThen): boolean => {
  try {
    return changedAt(path) === changed
  } catch {
    return false
  }
}

/** Whether everything that was read is still in the file: nothing was written meanwhile, or lines were only appended. */
const isStillThere = async (path: string, now: FileThen, read: Checksums, from: ResumePoint | undefined) => {
  if (read.length !== now.size) return false
  return isUnwritten(path, now) || isAsRead(path, read, from?.place.offset ?? 0)
}

/** Whether a file was written since all of what was read earlier was last checked. */
const isUnsure = ({ allAt }: ResumePoint['fingerprint'], { changed }: FileThen): boolean =>
  allAt < Number(BigInt(changed) / 1_000_000n)

/** Reads a file of lines, from its beginning or from where an earlier reading ended. */
export const sessionOfLines =
  <State, Saved>(parser: LineParser<State, Saved>, lines: ReadLines = objectLinesInParts): ReadSessionFile =>
  async (path, { size, onMalformed, resume }): Promise<Session> => {
    const source = { path, size, parser, lines }
    const now = { size, changed: changedAt(path) }
    const point = resume === undefined ? undefined : await readResumePoint(path, now, parser.version, resume)
    const resumed = point && (await resumedReading(source, point, onMalformed))
    const from = resumed && point
    const first = resumed ?? (await firstReading(source, undefined, onMalformed))
    const { checksums } = first
    let reached: string | undefined
    let made: readonly SessionMessage[] | undefined
    const readMessages = () =>
      secondReading(source, from, first, async (point) => {
        reached =
          point && first.unknown === undefined && (await isStillThere(path, now, checksums, from))
            ? await writeResumePoint(path, now, parser.version, point, { checksums, before: from?.fingerprint })
            : undefined
      })
    const messages: Session['messages'] = async function* ({ again = false } = {}) {
      const known = made
      if (!again) made = undefined
      if (known) {
        for (const message of known) yield message
        return
      }
      const isKept = first.kept !== undefined && again
      const all: SessionMessage[] = []
      for await (const message of readMessages()) {
        if (isKept) all.push(message)
        yield message
      }
      first.kept = undefined
      if (isKept) made = all
    }
    return {
      ...first.described,
      skippedLines: first.malformed,
      ...(first.unknown === undefined ? {} : { unknownLines: first.unknown }),
      isResumed: resumed !== undefined,
      isUnsure: from !== undefined && isUnsure(from.fingerprint, now),
      isKept: first.kept !== undefined,
      messages,
      resume: () => reached,
    }
  }
