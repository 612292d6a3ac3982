import { byteLines } from './byte-lines.ts'
import type { OpenRepository } from './open-repository.ts'

/** The first of these ids that is not the whole id of a commit in the repository; undefined if all are. @throws GitFailed */
export const findNoCommit = async (
  { stream }: OpenRepository,
  shas: readonly string[],
): Promise<string | undefined> => {
  const input = shas.map((sha) => `${sha}\n`)
  const args = ['cat-file', '--batch-check=%(objectname) %(objecttype)']
  const found = await Array.fromAsync(byteLines(stream(args, { input, ignoresReplacements: true })))
  return shas.find((sha, i) => found[i]?.toString('latin1') !== `${sha} commit`)
}

/** So many paths are on one command line, and so many files are read by one run of git. */
const MOST_FILES = 100

type File = { readonly sha: string; readonly path: string; readonly blob: string }

/** The files of a commit with these paths, as git stores them; what has another kind, or is not there, is missing. */
async function* filesOf({ text }: OpenRepository, sha: string, paths: readonly string[]): AsyncGenerator<File, void> {
  for (let i = 0; i < paths.length; i += MOST_FILES) {
    const asked = paths.slice(i, i + MOST_FILES)
    const listed = await text(['ls-tree', '-r', '-z', '--full-tree', sha, '--', ...asked], {
      ignoresReplacements: true,
    })
    for (const entry of listed.split('\0')) {
      const [, blob, path] = /^\d+ blob ([0-9a-f]+)\t(.*)$/s.exec(entry) ?? []
      if (blob !== undefined && asked.includes(path!)) yield { sha, path: path!, blob }
    }
  }
}

/** A file as a commit has it: its lines without their LF, as bytes, because not all are UTF-8. */
export type CommittedFile = { readonly sha: string; readonly path: string; readonly lines: readonly Buffer[] }

async function* read({ stream }: OpenRepository, files: readonly File[]): AsyncGenerator<CommittedFile, void> {
  const input = files.map(({ blob }) => `${blob}\n`)
  const printed = byteLines(stream(['cat-file', '--batch'], { input, ignoresReplacements: true }))
  for (const { sha, path } of files) {
    const { value: head } = await printed.next()
    // Of each blob git prints its id, type and size, its bytes, and an LF.
    let left = Number(head?.toString('latin1').split(' ')[2]) + 1
    const lines: Buffer[] = []
    while (left > 0) {
      const { value: line } = await printed.next()
      if (!line) throw new Error(`git has printed less of ${path} than it has`)
      lines.push(line)
      left -= line.length + 1
    }
    if (lines.at(-1)!.length === 0) lines.pop()
    yield { sha, path, lines }
  }
  for await (const _ of printed);
}

/**
 * Reads files as commits have them, one after the other; those that a commit does not have are left out. `git show <sha>:<path>` prints the same.
 * @throws GitFailed, also for a commit that is not there
 */
export async function* committedFiles(
  repository: OpenRepository,
  wanted: Iterable<readonly [sha: string, paths: readonly string[]]>,
): AsyncGenerator<CommittedFile, void> {
  let files: File[] = []
  for (const [sha, paths] of wanted)
    for await (const file of filesOf(repository, sha, paths)) {
      files.push(file)
      if (files.length < MOST_FILES) continue
      yield* read(repository, files)
      files = []
    }
  if (files.length > 0) yield* read(repository, files)
}
