import type { HashLine } from '../../base/line-hashes.ts'
import type { Hunk } from '../api/attribution.ts'
import type { PatchHunk } from '../git/patch.ts'

/** The hash of a line; empty for a weak one, which says too little of who wrote it. */
export type LineHash = string

/** Hashes lines as git prints them. What is no UTF-8 is U+FFFD, as everywhere. */
export const lineHasher =
  (hash: HashLine) =>
  (text: Buffer): LineHash =>
    hash(text.toString('utf8')) ?? ''

const LONGEST_PATH = 4_096

/** Whether a question may name a path: one with a backslash could be that of another file on another system. */
export const isAskable = (path: string): boolean =>
  path !== '' &&
  path.length <= LONGEST_PATH &&
  !path.includes('\\') &&
  !path.startsWith('/') &&
  !path.split('/').includes('..')

/** When a commit was authored and committed, in milliseconds; undefined for what is not committed. */
export type Dates = { readonly at: number; readonly until: number } | undefined

/**
 * What is asked of a hunk. Of the removed lines only what they are counts, not how many, and weak ones prove nothing. The path has to be askable.
 */
export const askedHunk = ({ path, previousPath, start, added, removed }: PatchHunk<LineHash>, dates: Dates): Hunk => {
  const gone = [...new Set(removed)].filter((hash) => hash !== '')
  return {
    path,
    ...(previousPath !== undefined && isAskable(previousPath) ? { previousPath } : {}),
    ...dates,
    start,
    added: [...added],
    ...(gone.length > 0 ? { removed: gone } : {}),
  }
}

export const sizeOf = ({ added, removed = [] }: Pick<Hunk, 'added' | 'removed'>): number =>
  added.length + removed.length
