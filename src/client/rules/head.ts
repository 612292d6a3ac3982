import { join } from 'node:path'
import { readSmallFile } from './read-small.ts'
import type { Repository } from './repository.ts'

/** What a worktree had checked out. `branch` is undefined where no branch was. */
export type CheckedOut = { readonly branch: string | undefined; readonly commit: string | undefined }

/** A commit that became the one that is checked out, and from which branch or commit to which one it went, if it was by a checkout. */
type Move = { readonly at: number; readonly commit: string; readonly from?: string; readonly to?: string }

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/
const MAX_REF_BYTES = 1 << 12
const MAX_PACKED_BYTES = 16 << 20
const MAX_LOG_BYTES = 4 << 20

const read = (path: string, max: number): Promise<string | undefined> => readSmallFile(path, max).catch(() => undefined)

const commitIn = (text: string | undefined): string | undefined => {
  const commit = text?.trim() ?? ''
  return COMMIT.test(commit) ? commit : undefined
}

/** The commit of a branch, from its own file or that of all packed ones. */
const tipOf = async ({ commonDir }: Repository, ref: string): Promise<string | undefined> => {
  const loose = commitIn(await read(join(commonDir, ref), MAX_REF_BYTES))
  if (loose !== undefined) return loose
  const packed = (await read(join(commonDir, 'packed-refs'), MAX_PACKED_BYTES)) ?? ''
  return commitIn(
    packed
      .split('\n')
      .find((line) => line.endsWith(` ${ref}`))
      ?.slice(0, -ref.length),
  )
}

/** A name of a branch that git would make. In another one a path could lead elsewhere. */
const isBranch = (name: string): boolean => !/\p{Cc}|[ ~^:?*[\\]|\.\.|\/\/|(?:^|\/)\.|^$/u.test(name)

const presentOf = async (repository: Repository): Promise<CheckedOut> => {
  const head = await read(join(repository.gitDir, 'HEAD'), MAX_REF_BYTES)
  const branch = head?.startsWith('ref: refs/heads/') ? head.slice('ref: refs/heads/'.length).trim() : undefined
  if (branch === undefined || !isBranch(branch)) return { branch: undefined, commit: commitIn(head) }
  return { branch, commit: await tipOf(repository, `refs/heads/${branch}`) }
}

/** A line of the log that git keeps of HEAD: the commit before and after, who, when, and what was done. */
const moveOf = (line: string): Move | undefined => {
  const [entry = '', did = ''] = line.split('\t')
  const [, commit = ''] = entry.split(' ', 2)
  const seconds = Number(entry.split(' ').at(-2))
  if (!COMMIT.test(commit) || !Number.isSafeInteger(seconds)) return undefined
  const between = did.startsWith('checkout: moving from ') ? did.slice('checkout: moving from '.length) : ''
  const [from, to] = between.split(' to ')
  return { at: seconds * 1_000, commit, ...(from && to ? { from, to } : {}) }
}

/** What was checked out at a time, by the moves since; undefined where that is not known. */
const before = (moves: readonly Move[], present: CheckedOut, at: number): CheckedOut | undefined => {
  const next = moves.findIndex((move) => move.at > at)
  if (next === -1) return present
  if (next === 0) return undefined
  const left = moves.slice(next).find(({ from }) => from !== undefined)?.from
  const branch = left ?? present.branch
  const isDetached = branch === undefined || COMMIT.test(branch) || !isBranch(branch)
  return { branch: isDetached ? undefined : branch, commit: moves[next - 1]!.commit }
}

/**
 * Reads what a worktree has checked out, and had at a time in milliseconds, as far as git's own log of it tells, which it keeps for 90 days; else
 * what it has now. Only files are read, and git is not run.
 */
export const readHead = async (repository: Repository): Promise<(at: number | undefined) => CheckedOut> => {
  const present = await presentOf(repository)
  const log = (await read(join(repository.gitDir, 'logs', 'HEAD'), MAX_LOG_BYTES)) ?? ''
  const moves = log.split('\n').flatMap((line) => moveOf(line) ?? [])
  return (at) => (at === undefined ? present : (before(moves, present, at) ?? present))
}
