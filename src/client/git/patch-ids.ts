import { byteLines } from './byte-lines.ts'
import type { OpenRepository } from './open-repository.ts'

/** The ids of the patches of commits, which a rebase keeps, by the ids of the commits; none for merges and empty commits. @throws GitFailed */
export const patchIdsOf = async (
  { stream }: OpenRepository,
  shas: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const flags = ['--no-ext-diff', '--no-textconv', '--submodule=short']
  const patches = stream(['diff-tree', '--stdin', '--root', '-r', '-p', ...flags], {
    input: shas.map((sha) => `${sha}\n`),
  })
  const found = new Map<string, string>()
  for await (const line of byteLines(stream(['patch-id', '--stable'], { input: patches }))) {
    const [patchId = '', sha = ''] = line.toString('latin1').split(' ')
    found.set(sha, patchId)
  }
  return found
}
