/**
 * Work that is done step by step, so that the event loop can do other work between two of them. No step takes long, whatever the
 * content is.
 */
export type Steps<Result> = Generator<void, Result, void>

/** Does such work within a generator of pieces, which yields `nothing` between two steps. */
export function* inSteps<Piece, Result>(work: Steps<Result>, nothing: Piece): Generator<Piece, Result, void> {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    yield nothing
  }
}

/** Does such work at once. */
export const atOnce = <Result>(work: Steps<Result>): Result => {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}
