/** A reader of a body that gets its pieces as well: how many bytes each of them holds by then. */
export const leftBytes = (_body: unknown, pieces: readonly Uint8Array[]): readonly number[] =>
  pieces.map(({ byteLength }) => byteLength)
