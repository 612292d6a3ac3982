/**
 * JavaScript objects list keys like `0` or `17` first, in ascending order, whatever their order in JSON text. An object whose
 * text has another order is wrapped in a proxy that lists its keys as the text does, also for `JSON.stringify`.
 */

const MARK = '_'

/** Whether the keys of an object may have had another order in its text: the first of several keys starts with a digit. */
export const mayBeReordered = (value: object): boolean => {
  let isFirst = true
  for (const key in value) {
    if (!isFirst) return true
    if (!(key[0]! >= '0' && key[0]! <= '9')) return false
    isFirst = false
  }
  return false
}

/** The index after the closing quote of the string that begins at `start`. */
const endOfString = (text: string, start: number): number => {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1
    while (text[before] === '\\') before -= 1
    if ((quote - before) % 2 === 1) return quote + 1
  }
}

const isSpace = (character: string | undefined) =>
  character === ' ' || character === '\n' || character === '\t' || character === '\r'

/** Puts a mark before each key of valid JSON text, so that no key looks like a number. */
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

/** A proxy handler that lists the keys of an object in a given order. */
class KeyOrder implements ProxyHandler<object> {
  readonly #keys: readonly string[]
  constructor(keys: readonly string[]) {
    this.#keys = keys
  }
  ownKeys() {
    return this.#keys
  }
}

/** Orders the keys of a value, at any depth. `marked` is the same value, parsed from the text with marked keys, and has the order of the text. */
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
    if (ordered !== member) members[key] = ordered // an own property even if its name is `__proto__`
  }
  return Object.keys(members).some((key, i) => key !== keys[i]) ? new Proxy(members, new KeyOrder(keys)) : members
}

/** Returns `value`, which was parsed from `text`, with the keys of all objects in the order of the text. Changes `value` for that. */
export const keepKeyOrder = (text: string, value: unknown): unknown => orderAs(JSON.parse(markKeys(text)), value)
