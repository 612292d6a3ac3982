import { createReadStream } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { dirname, relative, resolve, sep, isAbsolute } from 'node:path'
import { UsageError } from '../../cli/exit.ts'
import { io } from '../../cli/io.ts'
import type { Place } from '../../client/attribution/locate.ts'
import type { OpenRepository } from '../../client/git/open-repository.ts'
import { requireCommit } from '../../client/git/revisions.ts'
import { GitFailed } from '../../client/git/run-git.ts'
import { realPathOf } from '../../client/rules/repository.ts'

/** A file that was named on the command line, and lines of it. */
export type NamedLines = {
  /** As it was named. */
  readonly name: string
  /** Its real path, as far as its folders exist. */
  readonly path: string
  /** The folder in which its repository is looked for. */
  readonly folder: string
  /** The first and the last line; undefined for all. */
  readonly lines: readonly [first: number, last: number] | undefined
}

const LINES = /^(.+):(\d{1,9})(?:-(\d{1,9}))?$/s

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** The nearest folder above a path that exists. */
const existingFolder = async (path: string): Promise<string> => {
  const folder = dirname(path)
  return folder === path || (await isThere(folder)) ? folder : existingFolder(folder)
}

/** The path of a file and the lines in `FILE`, `FILE:LINE` or `FILE:FIRST-LAST`. A file with just this name comes first. */
const split = async (text: string): Promise<Pick<NamedLines, 'name' | 'lines'>> => {
  const [, name, first, last = first] = LINES.exec(text) ?? []
  if (name === undefined || (await isThere(resolve(io().cwd, text)))) return { name: text, lines: undefined }
  const lines = [Number(first), Number(last)] as const
  if (lines[0] < 1 || lines[1] < lines[0])
    throw new UsageError(`"${text}" names no lines: they are counted from 1, the first one comes first.`)
  return { name, lines }
}

/**
 * The file and lines that were named. Links are followed: a line is asked for in the file that has it, and in the repository of that.
 * @param mayBeGone whether the file need not exist now, because an earlier state of it is asked for
 * @throws UsageError
 */
export const namedLines = async (text: string, mayBeGone: boolean): Promise<NamedLines> => {
  const { name, lines } = await split(text)
  const given = resolve(io().cwd, name)
  const path = await realpath(given).catch(() => undefined)
  if (path === undefined) {
    if (!mayBeGone) throw new UsageError(`There is no file "${name}".`)
    const before = (await realPathOf(given)).path
    return { name, path: before, folder: await existingFolder(before), lines }
  }
  const found = await stat(path)
  if (!found.isFile() && !mayBeGone) throw new UsageError(`"${name}" is not a file.`)
  return { name, path, folder: found.isDirectory() ? path : dirname(path), lines }
}

/** The path of a file from the root of its repository. @throws UsageError */
const pathIn = ({ root }: OpenRepository, { name, path }: NamedLines): string => {
  const inside = relative(root, path)
  if (inside === '' || isAbsolute(inside) || inside.split(sep)[0] === '..')
    throw new UsageError(`"${name}" is not in the repository ${root}.`)
  return inside.split(sep).join('/')
}

/** Git takes a file for binary that has a NUL in as many first bytes. */
const FIRST_BYTES = 8_000
/** A file of more lines is asked for in parts. */
export const MOST_FILE_LINES = 20_000

const LF = 0x0a
/** The beginnings of texts in UTF-16, which git converts where attributes say so, and otherwise takes for binary. */
const UTF16 = ['fffe', 'feff']

type Size = { readonly lines: number; readonly isBinary: boolean; readonly mayBeBinary: boolean }

const sizeOf = async (chunks: AsyncIterable<Buffer>): Promise<Size> => {
  let [lines, read, last, isBinary, isUtf16] = [0, 0, LF, false, false]
  for await (const chunk of chunks) {
    if (read === 0) isUtf16 = UTF16.includes(chunk.toString('hex', 0, 2))
    if (read < FIRST_BYTES) isBinary ||= !isUtf16 && chunk.subarray(0, FIRST_BYTES - read).includes(0)
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, at + 1)) lines += 1
    read += chunk.length
    last = chunk.at(-1) ?? last
  }
  return { lines: last === LF ? lines : lines + 1, isBinary, mayBeBinary: isUtf16 }
}

/** The file as a commit has it. @throws UsageError */
const sizeAt = async ({ text, stream }: OpenRepository, revision: string, path: string, at: string): Promise<Size> => {
  const type = await text(['cat-file', '-t', `${revision}:${path}`]).catch((error: unknown) => {
    if (error instanceof GitFailed && error.exitCode !== undefined) return 'nothing'
    throw error
  })
  if (type.trim() !== 'blob') throw new UsageError(`There is no file "${path}" at ${at}.`)
  return sizeOf(stream(['cat-file', 'blob', `${revision}:${path}`]))
}

/** The place of named lines in a repository; `at` names a commit. @throws UsageError, Error for a file that cannot be asked for as a whole */
export const placeOf = async (
  repository: OpenRepository,
  named: NamedLines,
  at: string | undefined,
): Promise<Place> => {
  const path = pathIn(repository, named)
  const revision = at === undefined ? undefined : await requireCommit(repository, at)
  const { lines, isBinary, mayBeBinary } =
    revision === undefined
      ? await sizeOf(createReadStream(named.path))
      : await sizeAt(repository, revision, path, at ?? '')
  if (isBinary) throw new Error(`"${named.name}" is a binary file.`)
  if (!named.lines) {
    if (lines > MOST_FILE_LINES)
      throw new Error(
        `"${named.name}" has ${lines} lines: ask for at most ${MOST_FILE_LINES}, such as ${named.name}:1-${MOST_FILE_LINES}`,
      )
    return { path, revision, lines: undefined, mayBeBinary }
  }
  const [first, last] = named.lines
  if (first > lines) throw new UsageError(`"${named.name}" has no line ${first}: it has ${lines}.`)
  return { path, revision, lines: [first, Math.min(last, lines)], mayBeBinary }
}
