import type { ObjectLine, OnDamaged, Place } from './lines.ts'
import { behindAll, type Moment, momentOf, type Part, type ReadLines, type Sequence } from './sequence.ts'

/** How far a file was read, and when its next line was written, or before that is known its last one. */
export type Progress = { readonly place: Place; moment: Moment }

/** The lines of one file. A line without a time was written when the next one was that has some. */
export type TimedLines = {
  /** The next line, which was written at the `moment` of the progress; undefined if a chunk has to be read first. */
  readonly line: () => ObjectLine | undefined
  /** Goes to the line after it. False if a chunk has to be read first. */
  readonly advance: () => boolean
  /** Reads chunks until the next line and its moment are known. False at the end of the file. */
  readonly readChunks: () => Promise<boolean>
  readonly close: () => Promise<unknown>
}

/** In so many lines the next time is looked for. */
const MOST_AHEAD = 1_000

/** Reads the lines of a file from the place of `progress` on, which moves. The file is opened with the first chunk. */
export const newTimedLines = (
  readLines: ReadLines,
  sequence: Sequence,
  { path, size }: Part,
  progress: Progress,
  onDamaged: OnDamaged,
): TimedLines => {
  let chunks: AsyncIterator<Iterable<ObjectLine>> | undefined
  let chunk: Iterator<ObjectLine> | undefined
  let isEnded = false
  /** The next line, and those behind it as far as the first one that has a time. */
  const ahead: ObjectLine[] = []
  /** Whether the moment of the next line is known. */
  let isKnown = false
  let moment = progress.moment // of the last line in `ahead`

  /** Reads on in the chunk until a line has a time. False if the chunk ends before. */
  const lookAhead = (): boolean => {
    for (let found = chunk?.next(); found?.done === false; found = chunk?.next()) {
      const own = momentOf(sequence, found.value.json, moment)
      moment = own ?? moment
      ahead.push(found.value)
      if (own || ahead.length >= MOST_AHEAD) return true
    }
    return false
  }
  const advance = (): boolean => {
    ahead.shift()
    if (ahead.length > 0) return true
    isKnown = lookAhead()
    if (isKnown) progress.moment = moment
    return isKnown
  }
  const readChunks = async (): Promise<boolean> => {
    chunks ??= readLines(path, size, onDamaged, progress.place)[Symbol.asyncIterator]()
    while (!isEnded) {
      const found = await chunks.next()
      isEnded = found.done === true
      chunk = found.done === true ? undefined : found.value[Symbol.iterator]()
      const hasTime = lookAhead()
      if (!hasTime && !isEnded) continue
      isKnown = ahead.length > 0
      if (isKnown) progress.moment = hasTime ? moment : behindAll(moment)
      return isKnown
    }
    return false
  }
  return {
    line: () => (isKnown ? ahead[0] : undefined),
    advance,
    readChunks,
    close: async () => chunks?.return?.(),
  }
}
