/** The length of a piece, of bytes or of UTF-16 code units: enough for a system call, and each piece that the system takes shows that its client is reading. */
export const PIECE_LENGTH = 64 * 1024

export function* slicesOf(bytes: Buffer): Generator<Buffer, void> {
  for (let start = 0; start < bytes.length; start += PIECE_LENGTH) yield bytes.subarray(start, start + PIECE_LENGTH)
}

/** Joins texts to pieces; none of the texts may end within a character. */
export type Pieces = {
  add(text: string): void
  isFull(): boolean
  isEmpty(): boolean
  /** The text since the last piece. */
  take(): string
}

/** `firstLength`: after how many code units the first piece is full. */
export const newPieces = (firstLength = PIECE_LENGTH): Pieces => {
  let text = ''
  let length = firstLength

  const add = (more: string) => {
    text += more
  }

  const take = () => {
    const piece = text
    text = ''
    length = PIECE_LENGTH
    return piece
  }

  return { add, isFull: () => text.length >= length, isEmpty: () => text === '', take }
}

export function* piecesOf(texts: Iterable<string>): Generator<string, void> {
  const pieces = newPieces()
  for (const text of texts) {
    pieces.add(text)
    if (pieces.isFull()) yield pieces.take()
  }
  yield pieces.take()
}
