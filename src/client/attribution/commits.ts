import type { Hunk } from '../api/attribution.ts'
import { changesOf } from '../git/changes.ts'
import type { OpenRepository } from '../git/open-repository.ts'
import type { PatchItem } from '../git/patch.ts'
import type { Commit } from '../git/revisions.ts'
import { type LineHash, askedHunk, isAskable, sizeOf } from './hunks.ts'

/** What was not asked for, by why; numbers of files, and of merges that changed nothing of their own. */
export type LeftOut = { binary: number; submodule: number; large: number; path: number; merge: number }

export const nothingLeftOut = (): LeftOut => ({ binary: 0, submodule: 0, large: 0, path: 0, merge: 0 })

/** Lines of a file that a commit added: the first one and how many. */
export type AddedLines = { readonly path: string; readonly start: number; readonly count: number }

/** A commit, and what it did to each file. Of files that cannot be asked for, but have lines, only the added lines are known. */
export type ChangedCommit = {
  readonly commit: Commit
  readonly hunks: readonly Hunk[]
  readonly notAsked: readonly AddedLines[]
}

/** A file to which one commit adds more lines was not written by hand or by a call. */
export const MOST_LINES_OF_FILE = 20_000

/** What one commit changed: the hunks that can be asked for, and the lines of the others. */
const changesIn = (
  { at, until }: Commit,
  items: readonly PatchItem<LineHash>[],
  leftOut: LeftOut,
): Pick<ChangedCommit, 'hunks' | 'notAsked'> => {
  const found: { hunks: Hunk[]; notAsked: AddedLines[] } = { hunks: [], notAsked: [] }
  const hunks = items.flatMap((item) => (item.is === 'hunk' ? [item.hunk] : []))
  for (const item of items) if (item.is === 'leftOut') leftOut[item.what] += 1
  for (const [path, ofFile] of Map.groupBy(hunks, ({ path }) => path)) {
    const isLarge = ofFile.reduce((sum, { added }) => sum + added.length, 0) > MOST_LINES_OF_FILE
    if (!isLarge && isAskable(path)) found.hunks.push(...ofFile.map((hunk) => askedHunk(hunk, { at, until })))
    else {
      leftOut[isLarge ? 'large' : 'path'] += 1
      found.notAsked.push(...ofFile.map(({ start, added }) => ({ path, start, count: added.length })))
    }
  }
  return found
}

/**
 * Commits with what they changed, in their order. Merges are given only if they changed something that none of their parents has. `leftOut` is counted up. @throws GitFailed
 */
export async function* changedCommits(
  repository: OpenRepository,
  commits: readonly Commit[],
  lineOf: (text: Buffer) => LineHash,
  leftOut: LeftOut,
): AsyncGenerator<ChangedCommit, void> {
  const shas = commits.map(({ sha }) => sha)
  let next = 0
  let items: PatchItem<LineHash>[] = []
  /** The commits before the one with this id; git prints nothing of one that changed nothing. */
  const upTo = function* (sha: string | undefined): Generator<ChangedCommit, void> {
    for (; next < commits.length && commits[next]!.sha !== sha; next++) {
      const commit = commits[next]!
      const { hunks, notAsked } = changesIn(commit, items, leftOut)
      items = []
      if (commit.isMerge && hunks.length === 0) leftOut.merge += 1
      else yield { commit, hunks, notAsked }
    }
  }
  if (shas.length === 0) return
  for await (const item of changesOf(repository, shas, { lineOf })) {
    if (item.is === 'commit') yield* upTo(item.sha)
    else items.push(item)
  }
  yield* upTo(undefined)
}

const sizeOfCommit = ({ hunks }: ChangedCommit) => hunks.reduce((sum, hunk) => sum + sizeOf(hunk), 0)

/** Commits in groups that fit into one question each, in order. One that is larger than a question is a group by itself. */
export async function* grouped(
  commits: AsyncIterable<ChangedCommit>,
  most: { readonly commits: number; readonly hunks: number; readonly lines: number },
): AsyncGenerator<readonly ChangedCommit[], void> {
  let group: ChangedCommit[] = []
  let [hunks, lines] = [0, 0]
  for await (const commit of commits) {
    const [moreHunks, moreLines] = [commit.hunks.length, sizeOfCommit(commit)]
    const isFull = group.length === most.commits || hunks + moreHunks > most.hunks || lines + moreLines > most.lines
    if (isFull && group.length > 0) {
      yield group
      ;[group, hunks, lines] = [[], 0, 0]
    }
    group.push(commit)
    hunks += moreHunks
    lines += moreLines
  }
  if (group.length > 0) yield group
}
