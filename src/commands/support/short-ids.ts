const MIN_ID = 8

/** How many characters make all ids distinct, at least eight. */
export const shortest = (ids: readonly string[]): number => {
  const sorted = [...new Set(ids)].sort()
  const common = (a: string, b: string) => {
    let length = 0
    while (length < a.length && a[length] === b[length]) length++
    return length
  }
  return Math.max(MIN_ID, ...sorted.slice(1).map((id, i) => common(id, sorted[i]!) + 1))
}

/** The name of a user; the first characters of the id if there is none. */
export const authorName = ({
  id,
  displayName,
}: {
  readonly id: string
  readonly displayName?: string | undefined
}): string => displayName ?? id.slice(0, MIN_ID)
