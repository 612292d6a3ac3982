import { commitId } from '../../base/ids.ts'
import type { AttributedLines, CommitAnswers, CommitsQuestion, Hunk } from '../../contract/attribution.ts'
import type { Context } from '../../eventstore/engine/decide.ts'
import { recordCommit } from '../commit/decide.ts'
import type { Recorded, TraceLines } from '../commit/events.ts'
import { commitsWithPatches } from '../commit/queries.ts'
import { repositoryOf } from '../commit/repository.ts'
import { matchAll, sumOf } from './answer.ts'
import { inSnapshot } from './ask.ts'
import type { HunkMatches } from './match.ts'
import type { TraceRow } from './queries.ts'
import type { AttributionServices } from './services.ts'

type Asked = CommitsQuestion['commits'][number]

/** What is known of a commit. */
type Known = {
  readonly lines: AttributedLines
  readonly traces: readonly (TraceLines & { readonly externalId: string })[]
}

type Matched = { readonly hunk: Hunk; readonly matches: HunkMatches }

/** The lines that are counted, by trace; the one with the most lines comes first. */
const tracesOf = (matched: readonly Matched[], traces: ReadonlyMap<string, TraceRow>): Known['traces'] => {
  const counts = new Map<string, { replaced: number; run: number }>()
  for (const { hunk, matches } of matched)
    for (const { start, end, evidence, file } of matches.ranges) {
      if (evidence === 'moved') continue
      const first = hunk.start ?? 1
      const lines = hunk.added.slice(start - first, end - first + 1).filter((hash) => hash !== '')
      const count = counts.get(file.traceId) ?? { replaced: 0, run: 0 }
      count[evidence] += lines.length
      counts.set(file.traceId, count)
    }
  return [...counts]
    .map(([traceId, lines]) => {
      const { external_id: externalId, created_at: createdAt } = traces.get(traceId)!
      return { traceId, externalId, createdAt: Number(createdAt), ...lines }
    })
    .sort((a, b) => b.replaced + b.run - a.replaced - a.run || (a.traceId < b.traceId ? -1 : 1))
}

const hunksOf = ({ at, hunks }: Asked): Hunk[] => hunks.map((hunk) => ({ ...hunk, at: hunk.at ?? at }))

/** What is known of each commit, from one snapshot. */
const knownOf = async (
  services: AttributionServices,
  namespaceId: string,
  asked: CommitsQuestion,
): Promise<Known[]> => {
  const byCommit = asked.commits.map(hunksOf)
  const repositories = [asked.repository, ...(asked.repositories ?? [])]
  const { matches, traces } = await inSnapshot(
    services,
    namespaceId,
    { key: asked.key, repositories, hunks: byCommit.flat() },
    matchAll,
  )
  let next = 0
  return byCommit.map((hunks) => {
    const matched = hunks.map((hunk) => ({ hunk, matches: matches[next++]! }))
    return { lines: sumOf(matched.map((one) => one.matches.lines)), traces: tracesOf(matched, traces) }
  })
}

const recordedOf = (namespaceId: string, repository: string, { sha, at, patchId }: Asked, known: Known): Recorded => ({
  ...{ namespaceId, repository, sha, ...(patchId === undefined ? {} : { patchId }), at, lines: known.lines },
  traces: known.traces.map(({ externalId: _, ...lines }) => lines),
})

/** How many commits are recorded at once. */
const AT_ONCE = 20

/**
 * Answers which sessions wrote the lines of commits, and records it. If some could not be recorded, the request can be repeated.
 * @throws Rejected key_changed; Unavailable if it takes too long
 */
export const recordCommits = async (
  services: AttributionServices,
  namespaceId: string,
  asked: CommitsQuestion,
  context: Context,
): Promise<CommitAnswers> => {
  const { reads, commits: streams, write } = services
  const repository = repositoryOf(asked.repository)
  const known = await knownOf(services, namespaceId, asked)
  const patches = asked.commits.flatMap(({ patchId }) => patchId ?? [])
  const twins = patches.length === 0 ? [] : await commitsWithPatches(reads, { namespaceId, repository }, patches)
  const record = async (commit: Asked, i: number): Promise<CommitAnswers['commits'][number]> => {
    const id = commitId(namespaceId, repository, commit.sha)
    const { lines, traces } = known[i]!
    const decide = recordCommit(recordedOf(namespaceId, repository, commit, known[i]!))
    const result = await write(streams, id, { decide, answer: (_state, _events, result) => result }, context)
    const hasTwin = twins.some((twin) => twin.id !== id && twin.patch === commit.patchId)
    return {
      sha: commit.sha,
      result: result === 'created' && hasTwin ? 'updated' : result,
      lines,
      traces: traces.map(({ traceId, externalId, replaced, run }) => ({
        trace: { id: traceId, externalId },
        lines: { replaced, run },
      })),
    }
  }
  const answers: CommitAnswers['commits'] = []
  for (let from = 0; from < asked.commits.length; from += AT_ONCE) {
    const some = asked.commits.slice(from, from + AT_ONCE)
    answers.push(...(await Promise.all(some.map((commit, i) => record(commit, from + i)))))
  }
  return { commits: answers }
}
