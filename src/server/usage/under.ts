/** What is under a key, from now on if there was nothing. */
export const under = <Key, Value>(byKey: Map<Key, Value>, key: Key, start: () => Value): Value => {
  let value = byKey.get(key)
  if (value === undefined) byKey.set(key, (value = start()))
  return value
}
