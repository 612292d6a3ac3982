const PIECE_BYTES = 256 * 1024
const FIRST_BYTES = 16 * 1024

/**
 * The bytes of a body, in pieces with memory of their own, so that they can be transferred to a thread without a copy, and 16 MiB
 * need not be allocated at once.
 */
export type BodyBytes = { readonly length: number; readonly pieces: readonly Uint8Array<ArrayBuffer>[] }

type Pieces = Pick<BodyBytes, 'pieces'>

/** All pieces joined. */
export const wholeOf = ({ pieces }: Pieces): Uint8Array => (pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))

/** Frees memory at once: V8 collects bytes only when there are tens of megabytes of garbage. */
const free = ({ buffer }: Uint8Array<ArrayBuffer>): void => void buffer.transfer(0)

/** The result of `use` for all pieces joined. Their memory is freed: they cannot be used afterwards. */
export const consume = <T>({ pieces }: Pieces, use: (whole: Uint8Array) => T): T => {
  const whole = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const piece of pieces) {
    whole.set(piece, offset)
    offset += piece.length
    free(piece)
  }
  try {
    return use(whole)
  } finally {
    free(whole)
  }
}

/** Collects the chunks of a body. `expected` is the probable number of bytes; more are accepted. */
export const newBodyBytes = (expected: number) => {
  const pieces: Buffer<ArrayBuffer>[] = []
  let length = 0
  let room = 0 // at the end of the last piece

  /** Allocates at most as much as has arrived already: a body that is only announced takes no memory. */
  const newPiece = (needed: number) => {
    const ahead = Math.min(expected - length, Math.max(FIRST_BYTES, length))
    const size = Math.min(PIECE_BYTES, Math.max(ahead, needed))
    pieces.push(Buffer.allocUnsafeSlow(size))
    room = size
  }

  return {
    /** Copies a chunk, because its memory is shared with other chunks. */
    add(chunk: Buffer) {
      for (let from = 0; from < chunk.length;) {
        if (room === 0) newPiece(chunk.length - from)
        const last = pieces.at(-1)!
        const copied = chunk.copy(last, last.length - room, from, from + room)
        room -= copied
        length += copied
        from += copied
      }
    },
    end(): BodyBytes {
      const last = pieces.pop()
      if (last) pieces.push(last.subarray(0, last.length - room))
      return { length, pieces }
    },
    /** Frees the memory of a body that will not be read. */
    discard: () => pieces.forEach(free),
  }
}
