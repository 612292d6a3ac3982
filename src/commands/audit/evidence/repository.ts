import type { EvidenceCommit, EvidenceRange } from '../../../contract/evidence.ts'
import { committedFiles, findNoCommit } from '../../../client/git/committed-files.ts'
import type { OpenRepository } from '../../../client/git/open-repository.ts'
import { BadEvidence } from '../../../server/proof/evidence/bad-evidence.ts'
import { assertLinesOnce } from '../../../server/proof/evidence/check.ts'
import type { LinesOfRange } from '../../../server/proof/evidence/line-check.ts'

const pathsOf = ({ sha, ranges }: EvidenceCommit) => [sha, [...new Set(ranges.map(({ path }) => path))]] as const

/**
 * Reads the lines of all ranges from a repository, for step 5 of the check. Only these lines are held, each once: a file whose ranges overlap is refused before
 * that, so that a small one cannot fill the memory. @throws BadEvidence, also if the repository does not have one of the commits; GitFailed
 */
export const readLines = async (
  repository: OpenRepository,
  commits: readonly EvidenceCommit[],
): Promise<LinesOfRange> => {
  assertLinesOnce(commits)
  const shas = commits.map(({ sha }) => sha)
  const missing = await findNoCommit(repository, shas)
  if (missing !== undefined) throw new BadEvidence(5, `commit ${missing}`, 'the repository has no such commit')
  const keyOf = (sha: string, path: string) => `${sha}:${path}`
  const all = commits.flatMap(({ sha, ranges }) => ranges.map((range) => ({ key: keyOf(sha, range.path), range })))
  const byFile = Map.groupBy(all, ({ key }) => key)
  const found = new Map<EvidenceRange, readonly string[]>()
  for await (const { sha, path, lines } of committedFiles(repository, commits.map(pathsOf)))
    for (const { range } of byFile.get(keyOf(sha, path))!) {
      const own = lines.slice(range.start - 1, range.end)
      found.set(
        range,
        own.map((line) => line.toString('utf8')),
      )
    }
  return (_, range) => found.get(range)
}
