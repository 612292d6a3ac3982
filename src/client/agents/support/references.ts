/** The lines of a session that change what earlier ones mean, such as one that takes a prompt back. */
export type References = {
  /** `to` is the first line that is changed. */
  readonly add: (from: number, to: number) => void
  /** Whether a line from number `line` on changes one before it. Not to be asked for an earlier line afterwards. */
  readonly reachBefore: (line: number) => boolean
}

export const newReferences = (): References => {
  let references: { readonly from: number; readonly to: number }[] = []
  return {
    add: (from, to) => void references.push({ from, to }),
    reachBefore: (line) => {
      references = references.filter(({ from }) => from >= line)
      return references.some(({ to }) => to < line)
    },
  }
}
