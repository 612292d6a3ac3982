/**
 * Objects put keys like `0` or `17` first, in ascending order, wherever the text had them. One whose text had another
 * order is wrapped so that it lists its keys as the text did: all that writes it or walks through it sees that order.
 */

const MARK = '_'

/** Whether an object's text may have had its keys in another order: one that looks like a number leads. */
export const mayBeReordered = (value: object): boolean => {
  let isFirst = true
  for (const key in value) {
    if (!isFirst) return true
    if (!(key[0]! >= '0' && key[0]! <= '9')) return false
    isFirst = false
  }
  return false
}

/** Where the string that begins at `start` ends: behind its closing quote. */
const endOfString = (text: string, start: number): number => {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1
    while (text[before] === '\\') before -= 1
    if ((quote - before) % 2 === 1) return quote + 1
  }
}

const isSpace = (character: string | undefined) =>
  character === ' ' || character === '\n' || character === '\t' || character === '\r'

/** Valid JSON text with a mark before each key, so that none looks like a number. */
const markKeys = (text: string): string => {
  const pieces: string[] = []
  let done = 0
  for (let start = text.indexOf('"'); start >= 0;) {
    const end = endOfString(text, start)
    let next = end
    while (isSpace(text[next])) next += 1
    if (text[next] === ':') {
      pieces.push(text.slice(done, start + 1))
      done = start + 1
    }
    start = text.indexOf('"', next)
  }
  pieces.push(text.slice(done))
  return pieces.join(MARK)
}

/** What a wrapped object answers when it is asked for its keys. */
class KeyOrder implements ProxyHandler<object> {
  readonly #keys: readonly string[]
  constructor(keys: readonly string[]) {
    this.#keys = keys
  }
  ownKeys() {
    return this.#keys
  }
}

/** Orders a value's keys as those of its marked twin, at any depth. */
const orderAs = (marked: unknown, value: unknown): unknown => {
  if (typeof marked !== 'object' || marked === null) return value
  if (Array.isArray(marked)) {
    const items = value as unknown[]
    for (const [i, item] of marked.entries()) items[i] = orderAs(item, items[i])
    return items
  }
  const members = value as Record<string, unknown>
  const keys: string[] = []
  for (const name in marked) {
    const key = name.slice(MARK.length)
    keys.push(key)
    const member = members[key]
    const ordered = orderAs((marked as Record<string, unknown>)[name], member)
    if (ordered !== member) members[key] = ordered // an own property, also when it is called `__proto__`
  }
  return Object.keys(members).some((key, i) => key !== keys[i]) ? new Proxy(members, new KeyOrder(keys)) : members
}

/** A value parsed of `text`, which it changes, with the keys of all objects in the order that the text has. */
export const keepKeyOrder = (text: string, value: unknown): unknown => orderAs(JSON.parse(markKeys(text)), value)
