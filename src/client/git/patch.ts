import { unquotedPath } from './quoted-path.ts'

/** What one commit did at one place of one file. */
export type PatchHunk<Line> = {
  /** From the root of the repository, after the commit. */
  readonly path: string
  /** Before the commit, if it renamed the file. */
  readonly previousPath: string | undefined
  /** The number of the first added line. */
  readonly start: number
  readonly added: readonly Line[]
  readonly removed: readonly Line[]
}

/** What a patch has, piece by piece: a commit, its hunks that add lines, and files without lines. */
export type PatchItem<Line> =
  | { readonly is: 'commit'; readonly sha: string }
  | { readonly is: 'hunk'; readonly hunk: PatchHunk<Line> }
  | { readonly is: 'leftOut'; readonly what: 'binary' | 'submodule' }

const [SPACE, PLUS, MINUS, BACKSLASH] = [0x20, 0x2b, 0x2d, 0x5c]

const SHA = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/
/** A hunk of a merge has one more `@` for each further parent. */
const HUNK = /^(@@+) ((?:-\d+(?:,\d+)? )+)\+(\d+)(?:,(\d+))? @@/
const SUBMODULE = /^(?:index [0-9a-f.,]+|new file mode|deleted file mode|new mode|mode [0-9,]+\.\.) ?160000$/

/** The lines of a hunk of which so many are still to come: in the result, and in each parent. */
type Open<Line> = {
  line: number
  result: number
  readonly parents: number[]
  start: number
  added: Line[]
  /** Hunks of a merge end where a line is not its own; all of them get what it removed. */
  readonly done: { readonly start: number; readonly added: Line[] }[]
  readonly removed: Line[]
}

const openHunk = <Line>(header: RegExpExecArray): Open<Line> => {
  const [, , olds = '', start = '1', count = '1'] = header
  const parents = olds
    .trim()
    .split(' ')
    .map((old) => Number(old.split(',')[1] ?? '1'))
  return { line: Number(start), result: Number(count), parents, start: 0, added: [], done: [], removed: [] }
}

const isOver = <Line>({ result, parents }: Open<Line>): boolean => result <= 0 && parents.every((left) => left <= 0)

const closeRun = <Line>(open: Open<Line>): void => {
  if (open.added.length > 0) open.done.push({ start: open.start, added: open.added })
  open.added = []
}

/** Takes a line of a hunk: it has a column for each parent. */
const take = <Line>(open: Open<Line>, line: Buffer, lineOf: (text: Buffer) => Line): void => {
  const columns = open.parents.length
  const marks = [...line.subarray(0, columns)]
  if (marks[0] === BACKSLASH) return // "\ No newline at end of file"
  const text = line.subarray(columns)
  const isRemoved = marks.includes(MINUS)
  for (const [i, mark] of marks.entries()) if (mark === MINUS || (!isRemoved && mark === SPACE)) open.parents[i]! -= 1
  if (isRemoved) return void open.removed.push(lineOf(text))
  open.result -= 1
  if (marks.every((mark) => mark === PLUS)) {
    if (open.added.length === 0) open.start = open.line
    open.added.push(lineOf(text))
  } else closeRun(open)
  open.line += 1
}

/** The path in a line such as `+++ b/a.c`; a tab follows a name with spaces. */
const pathIn = (line: Buffer): string | undefined => {
  const end = line.at(-1) === 0x09 ? line.length - 1 : line.length
  const path = unquotedPath(line.subarray('+++ '.length, end))
  return path === '/dev/null' ? undefined : path.slice('b/'.length)
}

/**
 * Reads a patch as `git diff`, `git diff-tree --stdin` and, for merges, `git diff-tree --cc` print it, with the prefixes `a/` and `b/`. Of a merge hunks have what is in none of its
 * parents.
 * @param lineOf what is kept of a line
 */
export async function* readPatch<Line>(
  lines: AsyncIterable<Buffer>,
  lineOf: (text: Buffer) => Line,
): AsyncGenerator<PatchItem<Line>, void> {
  let [path, previousPath, isSubmodule] = [undefined as string | undefined, undefined as string | undefined, false]
  let open: Open<Line> | undefined
  for await (const line of lines) {
    if (open && !isOver(open)) {
      take(open, line, lineOf)
      if (!isOver(open)) continue
      closeRun(open)
      const { done, removed } = open
      if (path !== undefined && !isSubmodule)
        for (const { start, added } of done) yield { is: 'hunk', hunk: { path, previousPath, start, added, removed } }
      continue
    }
    const text = line.subarray(0, 256).toString('latin1')
    const header = text.startsWith('@@') ? HUNK.exec(text) : null
    if (header) open = openHunk(header)
    else if (text.startsWith('diff --')) {
      ;[path, previousPath, isSubmodule] = [undefined, undefined, false]
    } else if (text.startsWith('rename from ')) previousPath = unquotedPath(line.subarray('rename from '.length))
    else if (text.startsWith('+++ ')) path = pathIn(line)
    else if (text.startsWith('Binary files ')) yield { is: 'leftOut', what: 'binary' }
    else if (!isSubmodule && SUBMODULE.test(text)) {
      isSubmodule = true
      yield { is: 'leftOut', what: 'submodule' }
    } else if (SHA.test(text)) {
      path = undefined
      yield { is: 'commit', sha: text }
    }
  }
}
