const texts = new WeakMap<object, string>()

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const holdsKnown = (value: object): boolean => {
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    if (isObject(member) && texts.has(member)) return true
  }
  return false
}

const write = (value: unknown): string | undefined =>
  (isObject(value) ? texts.get(value) : undefined) ?? (JSON.stringify(value) as string | undefined)

/** JSON text of an object or a list; members whose text is known are written by it. */
const compose = (value: object): string => {
  if (Array.isArray(value)) return `[${value.map((item) => write(item) ?? 'null').join(',')}]`
  const members = Object.entries(value).flatMap(([key, member]) => {
    const text = write(member)
    return text === undefined ? [] : [`${JSON.stringify(key)}:${text}`]
  })
  return `{${members.join(',')}}`
}

/**
 * The JSON text of a value that does not change any more, made once. A value that holds others whose text is known (one
 * level down) is written with theirs, which may tell more than the value itself: the order of its keys.
 */
export const textOf = (value: object): string => {
  let text = texts.get(value)
  if (text === undefined) {
    text = holdsKnown(value) ? compose(value) : JSON.stringify(value)
    texts.set(value, text)
  }
  return text
}

/** Says what the text of a value is. */
export const setText = (value: object, text: string): void => void texts.set(value, text)
