const texts = new WeakMap<object, string>()

/** The JSON text of a value that does not change any more, made once. */
export const textOf = (value: object): string => {
  let text = texts.get(value)
  if (text === undefined) {
    text = JSON.stringify(value)
    texts.set(value, text)
  }
  return text
}
