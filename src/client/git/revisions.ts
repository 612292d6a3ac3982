import { UsageError } from '../../cli/exit.ts'
import type { OpenRepository } from './open-repository.ts'
import { GitFailed } from './run-git.ts'

/** A commit, without what it changed. Times are in milliseconds. */
export type Commit = {
  readonly sha: string
  readonly isMerge: boolean
  /** When it was authored. */
  readonly at: number
  /** When it was committed. */
  readonly until: number
  readonly subject: string
}

/** The commit that a name stands for; undefined if there is none. */
export const commitNamed = async ({ text }: OpenRepository, name: string): Promise<string | undefined> => {
  const answer = await text(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]).catch(
    (error: unknown) => {
      if (error instanceof GitFailed && error.exitCode !== undefined) return ''
      throw error
    },
  )
  return answer.trim() || undefined
}

/** The commit that a name stands for. @throws UsageError */
export const requireCommit = async (repository: OpenRepository, name: string): Promise<string> => {
  const sha = name === '' ? undefined : await commitNamed(repository, name)
  if (sha === undefined) throw new UsageError(`There is no commit "${name}" in ${repository.root}.`)
  return sha
}

/** The last commits that two have in common. */
export const mergeBases = async ({ text }: OpenRepository, one: string, other: string): Promise<readonly string[]> =>
  (await text(['merge-base', '--all', one, other], { mayExit: [1] })).split('\n').filter(Boolean)

const RANGE = /^(.*?)(\.\.\.?)(.*)$/s

/** What `git log` reads for a range such as `main..HEAD`: only ids of commits, so that no name is taken for an option. */
const idsOfRange = async (repository: OpenRepository, range: string): Promise<readonly string[] | undefined> => {
  const [, from = '', dots, to = ''] = RANGE.exec(range) ?? []
  if (dots === undefined) return undefined
  const [first, last] = [await requireCommit(repository, from || 'HEAD'), await requireCommit(repository, to || 'HEAD')]
  if (dots === '..') return [`^${first}`, last]
  return [first, last, ...(await mergeBases(repository, first, last)).map((base) => `^${base}`)]
}

/** One of these, which `parseCommits` reads, ends with a NUL. */
const FORMAT = '--format=tformat:%H%n%P%n%at%n%ct%n%s'

const parseCommits = (text: string): Commit[] =>
  text
    .split('\0')
    .filter(Boolean)
    .map((entry) => {
      const [sha = '', parents = '', at = '', until = '', ...subject] = entry.split('\n')
      const times = { at: Number(at) * 1_000, until: Number(until) * 1_000 }
      return { sha, isMerge: parents.includes(' '), ...times, subject: subject.join(' ') }
    })

const log = async ({ text }: OpenRepository, ids: readonly string[], flags: readonly string[] = []) =>
  parseCommits(
    await text(['log', ...flags, '-z', FORMAT, '--encoding=UTF-8', '--no-patch', '--no-color', '--stdin'], {
      input: [`${ids.join('\n')}\n`],
    }),
  )

/** The commits of ranges and names, each once, the newest of each range first. A name stands for one commit. @throws UsageError */
export const listCommits = async (repository: OpenRepository, names: readonly string[]): Promise<readonly Commit[]> => {
  const found = new Map<string, Commit>()
  for (const name of names) {
    const ids = await idsOfRange(repository, name)
    const commits = ids
      ? await log(repository, ids)
      : await log(repository, [await requireCommit(repository, name)], ['--no-walk'])
    for (const commit of commits) found.set(commit.sha, commit)
  }
  return [...found.values()]
}
