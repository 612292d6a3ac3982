import type { Range } from './named-values.ts'

/** A text as a terminal or a page shows it, and from where in the original its characters are. */
export type Shown = {
  readonly text: string
  /** The place in the original of a range of `text`, with all that is hidden within it. */
  readonly originOf: (range: Range) => Range
}

/**
 * A text that is put together from pieces of another one. A piece that is as long as its original stands for it character by
 * character; any other one stands for it as a whole.
 */
export const newPieces = (original: string) => {
  let text = ''
  const [starts, froms, tos]: [number[], number[], number[]] = [[], [], []]

  const put = (piece: string, from: number, to: number): void => {
    if (piece === '') return
    const last = starts.length - 1
    const goesOn =
      piece.length === to - from && tos[last] === from && text.length - starts[last]! === from - froms[last]!
    if (goesOn) tos[last] = to
    else {
      starts.push(text.length)
      froms.push(from)
      tos.push(to)
    }
    text += piece
  }
  const keep = (from: number, to: number): void => put(original.slice(from, to), from, to)

  /** The index of the piece that has the character at `at`. */
  const indexAt = (at: number): number => {
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (starts[middle]! <= at) low = middle
      else high = middle - 1
    }
    return low
  }

  const originOf = ({ start, end }: Range): Range => {
    let [from, to] = [original.length, 0]
    for (let index = indexAt(start); index < starts.length && starts[index]! < end; index++) {
      const [first, next] = [starts[index]!, starts[index + 1] ?? text.length]
      const isAligned = next - first === tos[index]! - froms[index]!
      from = Math.min(from, froms[index]! + (isAligned ? Math.max(0, start - first) : 0))
      to = Math.max(to, tos[index]! - (isAligned ? Math.max(0, next - end) : 0))
    }
    return { start: from, end: to }
  }
  return { put, keep, shown: (): Shown => ({ text, originOf }) }
}

export type Pieces = ReturnType<typeof newPieces>
