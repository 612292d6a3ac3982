/** A part of an answer, large enough to be worth a system call, with the ids of the traces in it. */
export type Piece = { readonly bytes: Buffer; readonly traceIds: readonly string[] }

/** Joins rows to the text of a JSON array, piece by piece. */
export type Pieces = {
  add(row: string, traceId: string | undefined): void
  /** Adds text as it is, without a comma. */
  append(text: string): void
  isFull(): boolean
  isEmpty(): boolean
  /** The text since the last piece, followed by `end`. */
  take(end?: string): Piece
}

const LENGTH = 64 * 1024

export const newPieces = (before: string): Pieces => {
  let text = before
  let separator = ''
  let traceIds: string[] = []

  const add = (row: string, traceId: string | undefined) => {
    text += separator + row
    separator = ','
    if (traceId !== undefined) traceIds.push(traceId)
  }

  const append = (more: string) => {
    text += more
  }

  const take = (end = '') => {
    const piece = { bytes: Buffer.from(text + end), traceIds }
    text = ''
    traceIds = []
    return piece
  }

  return { add, append, isFull: () => text.length >= LENGTH, isEmpty: () => text === '', take }
}
