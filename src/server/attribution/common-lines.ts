import { BoundedMap } from '../../base/bounded-map.ts'

/** Of how many lines it is remembered. */
const MOST_REMEMBERED = 50_000
/** For how long: calls of a line come and go. */
const REMEMBERED_MS = 600_000

/** Which lines very many calls wrote, by their hashes. To find that out takes as long as to read all these calls; most questions have the same ones. */
export type CommonLines = {
  /** Undefined if it is not known. */
  readonly has: (hash: bigint, now: number) => boolean | undefined
  readonly note: (hash: bigint, isCommon: boolean, now: number) => void
}

export const newCommonLines = (): CommonLines => {
  const noted = new BoundedMap<bigint, { readonly isCommon: boolean; readonly until: number }>(MOST_REMEMBERED)
  return {
    has: (hash, now) => {
      const one = noted.get(hash)
      return one && now < one.until ? one.isCommon : undefined
    },
    note: (hash, isCommon, now) => void noted.set(hash, { isCommon, until: now + REMEMBERED_MS }),
  }
}
