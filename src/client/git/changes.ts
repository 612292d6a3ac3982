import { byteLines } from './byte-lines.ts'
import type { OpenRepository } from './open-repository.ts'
import { type PatchItem, readPatch } from './patch.ts'

/**
 * How changes are compared: without white space, without lines around them, with renames; whatever the repository's settings say. No program of attributes is run, and no
 * submodule is looked into.
 */
const FLAGS = [
  ...['-p', '-w', '-U0', '-M', '--inter-hunk-context=0'],
  ...['--no-color', '--no-ext-diff', '--no-textconv', '--no-relative', '--src-prefix=a/', '--dst-prefix=b/'],
  ...['--submodule=short', '--full-index'],
]

type Options<Line> = {
  /** What is kept of a line. */
  readonly lineOf: (text: Buffer) => Line
  /** Only these files; those that a change renames have to be named by both of their paths. */
  readonly paths?: readonly string[]
  /** Whether files are compared by lines even where git takes them for binary. */
  readonly isText?: boolean
}

/** What commits have changed: of a merge what is in none of its parents. @throws GitFailed */
export const changesOf = <Line>(
  { stream }: OpenRepository,
  shas: Iterable<string>,
  { lineOf, paths = [], isText = false }: Options<Line>,
): AsyncGenerator<PatchItem<Line>, void> => {
  const flags = [...FLAGS, ...(isText ? ['--text'] : []), '--ignore-submodules=none']
  const input = [...shas].map((sha) => `${sha}\n`)
  const printed = stream(['diff-tree', '--stdin', '--root', '-r', '--cc', ...flags, '--', ...paths], { input })
  return readPatch(byteLines(printed), lineOf)
}

/** What of these files is not committed, staged or not. @throws GitFailed */
export const uncommittedChanges = <Line>(
  { stream }: OpenRepository,
  { lineOf, paths = [] }: Options<Line>,
): AsyncGenerator<PatchItem<Line>, void> =>
  readPatch(byteLines(stream(['diff', ...FLAGS, '--text', '--ignore-submodules=all', 'HEAD', '--', ...paths])), lineOf)

/** The lines of a file that git does not know, as they would be committed. @throws GitFailed */
export const linesOfNewFile = ({ stream }: OpenRepository, path: string): AsyncGenerator<PatchItem<Buffer>, void> =>
  readPatch(
    byteLines(
      stream(['diff', '--no-index', ...FLAGS, '--text', '--', '/dev/null', path === '-' ? './-' : path], {
        mayExit: [1],
      }),
    ),
    (text) => text,
  )
