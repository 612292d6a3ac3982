/**
 * A Map of at most `maxSize` entries, however large they are: a new one drops the oldest. Setting a key again keeps its place
 * in the order. (`eventstore/engine/sized-cache.ts` bounds the total size of its values.)
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxSize: number
  readonly #onDrop: (key: Key, value: Value) => void

  /** `onDrop` is called for each entry that was dropped to make room, after it was removed. */
  constructor(maxSize: number, onDrop: (key: Key, value: Value) => void = () => {}) {
    super()
    this.#maxSize = maxSize
    this.#onDrop = onDrop
  }

  override set(key: Key, value: Value): this {
    if (!this.has(key) && this.size >= this.#maxSize) this.#dropOldest()
    return super.set(key, value)
  }

  #dropOldest() {
    for (const [key, value] of this) {
      this.delete(key)
      this.#onDrop(key, value)
      return
    }
  }
}
