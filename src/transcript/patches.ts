import type { ChangedLines } from './changed-lines.ts'

/** What a patch does to one file. `from` and `to` are the places in the patch between which its lines are, after those that name the file. */
type PatchedFile = ChangedLines & {
  /** Undefined if no line names a file. */
  readonly path: string | undefined
  readonly from: number
  readonly to: number
}

/** The lines in a patch of Codex that name a file. */
const NAMES = ['*** Add File: ', '*** Update File: ', '*** Delete File: ']
const MOVED = '*** Move to: '
const ENDS = '*** End Patch'
const NOWHERE = '/dev/null'

const codexName = (line: string): string | undefined => {
  const start = NAMES.find((name) => line.startsWith(name))
  return start && line.slice(start.length).trim()
}

const unifiedName = (line: string) => line.slice(4).split('\t', 1)[0]!.trim()

/** The path in the two lines above the hunks of a file, without the `a/` and `b/` that git writes in front of it. */
const unifiedPath = (old: string, changed: string): string => {
  const [from, to] = [unifiedName(old), unifiedName(changed)]
  const isOfGit = [from === NOWHERE || from.startsWith('a/'), to === NOWHERE || to.startsWith('b/')].every(Boolean)
  const path = to === NOWHERE ? from : to
  return isOfGit ? path.slice(2) : path
}

/** How many old and new lines a hunk of a unified difference has; a hunk of Codex does not say it. */
const hunkSize = (line: string) => {
  const found = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/.exec(line)
  return found ? { old: Number(found[1] ?? 1), changed: Number(found[2] ?? 1) } : { old: 0, changed: 0 }
}

type Opened = { path: string | undefined; from: number; added: number; removed: number }

/** The kind of a line of a patch: a line of the file, or a `head`, which says where the others belong. */
export type PatchLine = 'added' | 'removed' | 'same' | 'head'

const kinds: Readonly<Record<string, PatchLine>> = { '+': 'added', '-': 'removed' }

/** Lines of a unified difference between two files; the last says that a file has no end of line at its end. */
const BETWEEN = /^(?:diff |index |(?:new|deleted) file |(?:old|new) mode |similarity |rename |copy |Index: |===|\\)/

/** @param isOfFile whether the lines are those of one file only, without the lines that name it */
const newReader = (isOfFile: boolean) => {
  let closed: PatchedFile | undefined
  let opened: Opened | undefined = isOfFile ? { path: undefined, from: 0, added: 0, removed: 0 } : undefined
  /** The lines of the present hunk that are still to come, if it says how many it has. */
  let rest = { old: 0, changed: 0 }
  let isOfCodex = isOfFile
  let hasHunk = false

  const close = (to: number) => {
    if (opened) closed = { ...opened, to }
    opened = undefined
  }
  const open = (path: string | undefined, at: number, from: number) => {
    close(at)
    opened = { path, from, added: 0, removed: 0 }
    hasHunk = false
  }
  const count = (first: string | undefined): PatchLine => {
    const is = kinds[first ?? ''] ?? 'same'
    if (is === 'added' || is === 'removed') opened![is] += 1
    return is
  }
  /** Reads a line of a hunk whose head gives the number of lines; undefined for any other line, which ends the hunk. */
  const ofHunk = (first: string | undefined): PatchLine | undefined => {
    if (rest.old <= 0 && rest.changed <= 0) return undefined
    if (first !== undefined && !'+- \\\r'.includes(first)) {
      rest = { old: 0, changed: 0 }
      return undefined
    }
    if (first === '\\') return 'head'
    if (first !== '+') rest.old -= 1
    if (first !== '-') rest.changed -= 1
    return count(first)
  }
  const isHeadOfCodex = (line: string, at: number, next: number): boolean => {
    if (line.startsWith(MOVED)) Object.assign(opened!, { path: line.slice(MOVED.length).trim(), from: next })
    else if (line.startsWith(ENDS)) close(at)
    else return /^(?:\*\*\* |\\)/.test(line)
    return true
  }
  /** Reads a line that names a file, or begins a hunk; false for any other line. `next` is where the following line begins. */
  const isHead = (line: string, at: number, next: number, following: () => string): boolean => {
    const name = codexName(line)
    isOfCodex ||= name !== undefined
    if (name !== undefined) open(name, at, next)
    else if (line.startsWith('@@')) {
      if (!opened) open(undefined, at, at)
      hasHunk = true
      rest = hunkSize(line)
    } else if (isOfCodex) return !opened || isHeadOfCodex(line, at, next)
    else if (line.startsWith('--- ') && following().startsWith('+++ '))
      open(unifiedPath(line, following()), at, next + following().length + 1)
    else if (line.startsWith('diff --git ')) close(at)
    else return !opened || (line.startsWith('+++ ') && !hasHunk) || BETWEEN.test(line)
    return true
  }
  const read = (line: string, at: number, next: number, following: () => string): PatchLine =>
    ofHunk(line[0]) ?? (isHead(line, at, next, following) ? 'head' : count(line[0]))
  /** The file that the last line has ended. */
  const ended = (): PatchedFile | undefined => {
    const file = closed
    closed = undefined
    return file
  }
  return { read, ended, end: (at: number): PatchedFile | undefined => (close(at), ended()) }
}

/** Each line of a patch, with what it is, and the file that ends before it. */
function* readLines(patch: string, isOfFile = false) {
  const reader = newReader(isOfFile)
  const lineAt = (from: number) => {
    const end = patch.indexOf('\n', from)
    return patch.slice(from, end < 0 ? patch.length : end)
  }
  for (let at = 0; at < patch.length;) {
    const text = lineAt(at)
    const next = at + text.length + 1
    const is = reader.read(text, at, next, () => lineAt(next))
    yield { is, text, ended: reader.ended() }
    at = next
  }
  return reader.end(patch.length)
}

/** The lines of a patch, or of what it does to one file. */
export function* linesOfPatch(
  patch: string,
  isOfFile = false,
): Generator<{ readonly is: PatchLine; readonly text: string }, void> {
  yield* readLines(patch, isOfFile)
}

const LINES_IN_STEP = 2_000

/**
 * The files that a patch changes, in order. It may be a unified difference, or a patch of Codex. A text without a line that names a
 * file or begins a hunk changes nothing.
 */
export const patchedFiles = (patch: string): PatchedFile[] =>
  [...patchedFilesInSteps(patch)].filter((file) => file !== undefined)

/** Yields the files that a patch changes one after the other; undefined for a step without a file. */
export function* patchedFilesInSteps(patch: string): Generator<PatchedFile | undefined, void> {
  const lines = readLines(patch)
  for (let count = 1; ; count++) {
    const { done, value } = lines.next()
    const file = done ? value : value.ended
    if (file || count % LINES_IN_STEP === 0) yield file
    if (done) return
  }
}
