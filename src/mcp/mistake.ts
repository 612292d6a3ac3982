/** A call that cannot be answered as it is; the message says why. */
export class Mistake extends Error {
  override readonly name = 'Mistake'
}
