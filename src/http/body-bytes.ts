const PIECE_BYTES = 256 * 1024
const FIRST_BYTES = 16 * 1024

/**
 * The bytes of a body, in pieces with memory of their own: they can be transferred to a thread without a copy, and 16 MiB need
 * not be joined at once.
 */
export type BodyBytes = { readonly length: number; readonly pieces: readonly Uint8Array<ArrayBuffer>[] }

type Pieces = Pick<BodyBytes, 'pieces'>

/** All pieces joined. */
export const wholeOf = ({ pieces }: Pieces): Uint8Array => (pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))

/** Gives memory back now. Garbage is collected late where it is bytes: V8 waits until there are tens of megabytes of them. */
const giveBack = ({ buffer }: Uint8Array<ArrayBuffer>): void => void buffer.transfer(0)

/** What `use` makes of all pieces joined, whose memory is given back meanwhile: none of them can be used afterwards. */
export const consume = <T>({ pieces }: Pieces, use: (whole: Uint8Array) => T): T => {
  const whole = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const piece of pieces) {
    whole.set(piece, offset)
    offset += piece.length
    giveBack(piece)
  }
  try {
    return use(whole)
  } finally {
    giveBack(whole)
  }
}

/** Collects the chunks of a body. `expected` is the probable number of bytes; more are accepted. */
export const newBodyBytes = (expected: number) => {
  const pieces: Buffer<ArrayBuffer>[] = []
  let length = 0
  let free = 0 // at the end of the last piece

  /** No more is made ahead than has come: what a client only announces costs no memory. */
  const newPiece = (needed: number) => {
    const ahead = Math.min(expected - length, Math.max(FIRST_BYTES, length))
    const size = Math.min(PIECE_BYTES, Math.max(ahead, needed))
    pieces.push(Buffer.allocUnsafeSlow(size))
    free = size
  }

  return {
    /** Copies a chunk, because its memory is shared with other chunks. */
    add(chunk: Buffer) {
      for (let from = 0; from < chunk.length;) {
        if (free === 0) newPiece(chunk.length - from)
        const last = pieces.at(-1)!
        const copied = chunk.copy(last, last.length - free, from, from + free)
        free -= copied
        length += copied
        from += copied
      }
    },
    end(): BodyBytes {
      const last = pieces.pop()
      if (last) pieces.push(last.subarray(0, last.length - free))
      return { length, pieces }
    },
    /** Gives the memory of a body back that nobody will read. */
    discard: () => pieces.forEach(giveBack),
  }
}
