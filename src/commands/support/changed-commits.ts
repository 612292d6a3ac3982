import { say } from '../../cli/output.ts'
import { MOST_COMMITS } from '../../contract/attribution.ts'
import type { AttributedRange } from '../../client/api/attribution.ts'
import {
  type ChangedCommit,
  changedCommits,
  grouped,
  type LeftOut,
  MOST_LINES_OF_FILE,
  nothingLeftOut,
} from '../../client/attribution/commits.ts'
import { type Numbers, countHunks } from '../../client/attribution/counted.ts'
import { type Commit, commitNamed } from '../../client/git/revisions.ts'
import { type Attribution, limits } from './attribution.ts'

/** A commit, what it changed, and what is known of that. */
export type AnsweredCommit = ChangedCommit & { readonly ranges: readonly AttributedRange[] } & Numbers

/** What commands ask for without an argument: what the upstream does not have, else the last commit. */
export const usualRange = async ({ repository }: Pick<Attribution, 'repository'>): Promise<string> =>
  (await commitNamed(repository, '@{upstream}')) === undefined ? 'HEAD' : '@{upstream}..HEAD'

const files = (count: number) => (count === 1 ? '1 file' : `${count} files`)

/** Says what was not asked for. */
const sayLeftOut = ({ binary, submodule, large, path, merge }: LeftOut): void => {
  const left = [
    ...(binary > 0 ? [`${files(binary)} that git takes for binary`] : []),
    ...(large > 0 ? [`${files(large)} with more than ${MOST_LINES_OF_FILE} added lines`] : []),
    ...(path > 0 ? [`${files(path)} with a backslash in the name`] : []),
    ...(submodule > 0 ? [`${submodule === 1 ? '1 commit' : `${submodule} commits`} of submodules`] : []),
    ...(merge > 0 ? [`${merge === 1 ? '1 merge' : `${merge} merges`}`] : []),
  ]
  if (left.length > 0) say(`Left out: ${left.join(', ')}.`)
}

/** Commits with what they changed, in groups that fit into one question each; says at last what was left out. */
export async function* groupsOf(
  { repository, lineOf }: Attribution,
  commits: readonly Commit[],
): AsyncGenerator<readonly ChangedCommit[], void> {
  const leftOut = nothingLeftOut()
  yield* grouped(changedCommits(repository, commits, lineOf, leftOut), { ...limits, commits: MOST_COMMITS })
  sayLeftOut(leftOut)
}

/** Asks for the hunks of several commits together, and gives each its own answers. */
export const answersFor = async (
  { ask }: Pick<Attribution, 'ask'>,
  group: readonly ChangedCommit[],
): Promise<readonly AnsweredCommit[]> => {
  const answers = await ask(group.flatMap(({ hunks }) => hunks))
  let from = 0
  return group.map((changed) => {
    const own = answers.slice(from, (from += changed.hunks.length))
    return { ...changed, ranges: own.flat(), ...countHunks(changed.hunks, own) }
  })
}
