/** The file is not valid; the message says why. */
export class Damaged extends Error {
  override readonly name = 'Damaged'
}

const ENDS_EARLY = 'it ends in the middle of a value'
/** Above the largest message that the service takes. */
const MOST_CHARACTERS = 18 * 1024 * 1024
const MOST_LEVELS = 600

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/** Finds the end of a JSON value that comes in chunks. */
class ValueEnd {
  #depth = 0
  #inString = false
  #isEscaped = false
  #hasBegun = false

  /** The index after the value, in a chunk that is read from `start` on; -1 if the value continues in the next chunk. */
  find(chunk: string, start: number): number {
    for (let i = start; i < chunk.length; i++) {
      const code = chunk.charCodeAt(i)
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (code === BACKSLASH) this.#isEscaped = true
        else if (code === QUOTE) {
          this.#inString = false
          if (this.#depth === 0) return i + 1
        }
      } else if (code === QUOTE) this.#inString = true
      else if (code === OPEN_LIST || code === OPEN_OBJECT) this.#open()
      else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
        if (this.#depth === 0) return i
        this.#depth -= 1
        if (this.#depth === 0) return i + 1
      } else if (this.#depth === 0 && this.#hasBegun && (code === COMMA || isSpace(code))) return i
      this.#hasBegun = true
    }
    return -1
  }

  #open() {
    this.#depth += 1
    if (this.#depth > MOST_LEVELS) throw new Damaged(`it is nested more than ${MOST_LEVELS} levels deep`)
  }
}

/** Reads JSON text that comes in chunks, value by value. */
export class JsonPieces {
  readonly #chunks: AsyncIterator<string>
  #chunk = ''
  #at = 0

  constructor(chunks: AsyncIterable<string>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  async #more(): Promise<boolean> {
    const next = await this.#chunks.next()
    this.#chunk = next.done ? '' : next.value
    this.#at = 0
    return !next.done
  }

  /** The next character that is not white space, without reading it; undefined at the end. */
  async peek(): Promise<string | undefined> {
    for (;;) {
      while (this.#at < this.#chunk.length && isSpace(this.#chunk.charCodeAt(this.#at))) this.#at += 1
      if (this.#at < this.#chunk.length) return this.#chunk[this.#at]
      if (!(await this.#more())) return undefined
    }
  }

  /** Reads one of these characters, and returns it. @throws Damaged */
  async expect(characters: string): Promise<string> {
    const next = await this.peek()
    if (next === undefined) throw new Damaged(ENDS_EARLY)
    if (!characters.includes(next)) throw new Damaged('it is not JSON')
    this.#at += 1
    return next
  }

  /** Reads a value, and returns its text; without `isKept` an empty text. @throws Damaged */
  async value(isKept = true): Promise<string> {
    if ((await this.peek()) === undefined) throw new Damaged(ENDS_EARLY)
    const end = new ValueEnd()
    const parts: string[] = []
    let length = 0
    for (;;) {
      const found = end.find(this.#chunk, this.#at)
      if (isKept) parts.push(this.#chunk.slice(this.#at, found < 0 ? undefined : found))
      length += parts.at(-1)?.length ?? 0
      if (length > MOST_CHARACTERS) throw new Damaged('a message in it is over 16 MiB')
      if (found >= 0) {
        this.#at = found
        return parts.join('')
      }
      if (!(await this.#more())) throw new Damaged(ENDS_EARLY)
    }
  }
}
