import type { ChangedLines } from './changed-lines.ts'

/** What a patch does to one file. Its lines, behind those that name the file, are from one place in the patch to another. */
export type PatchedFile = ChangedLines & {
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

const newReader = () => {
  const files: PatchedFile[] = []
  let opened: Opened | undefined
  /** The lines of the present hunk that are still to come, if it says how many it has. */
  let rest = { old: 0, changed: 0 }
  let isOfCodex = false

  const close = (to: number) => {
    if (opened) files.push({ ...opened, to })
    opened = undefined
  }
  const open = (path: string | undefined, at: number, from: number) => {
    close(at)
    opened = { path, from, added: 0, removed: 0 }
  }
  const count = (first: string | undefined) => {
    if (first === '+') opened!.added += 1
    else if (first === '-') opened!.removed += 1
  }
  /** Reads a line of a hunk that says how many it has; false for a line that is none, with which the hunk ends. */
  const isOfHunk = (first: string | undefined): boolean => {
    if (rest.old <= 0 && rest.changed <= 0) return false
    if (first !== undefined && !'+- \\\r'.includes(first)) {
      rest = { old: 0, changed: 0 }
      return false
    }
    if (first === '\\') return true
    if (first !== '+') rest.old -= 1
    if (first !== '-') rest.changed -= 1
    count(first)
    return true
  }
  const readOfCodex = (line: string, at: number, next: number) => {
    const name = codexName(line)
    if (name !== undefined) open(name, at, next)
    else if (line.startsWith(MOVED)) Object.assign(opened!, { path: line.slice(MOVED.length).trim(), from: next })
    else if (line.startsWith(ENDS)) close(at)
    else if (opened) count(line[0])
  }
  /** Reads a line, and returns where the next one begins. `next` is where the following line begins. */
  const read = (line: string, at: number, next: number, following: () => string): number => {
    if (isOfHunk(line[0])) return next
    isOfCodex ||= codexName(line) !== undefined
    if (isOfCodex) readOfCodex(line, at, next)
    else if (line.startsWith('--- ') && following().startsWith('+++ ')) {
      const end = next + following().length + 1
      open(unifiedPath(line, following()), at, end)
      return end
    } else if (line.startsWith('diff --git ')) close(at)
    else if (line.startsWith('@@')) {
      if (!opened) open(undefined, at, at)
      rest = hunkSize(line)
    } else if (opened) count(line[0])
    return next
  }
  return { read, end: (at: number): PatchedFile[] => (close(at), files) }
}

/**
 * The files that a patch changes, in order. It may be a unified difference, or a patch of Codex. A text without a line that names a
 * file or begins a hunk changes nothing.
 */
export const patchedFiles = (patch: string): PatchedFile[] => {
  const reader = newReader()
  const lineAt = (from: number) => {
    const end = patch.indexOf('\n', from)
    return patch.slice(from, end < 0 ? patch.length : end)
  }
  for (let at = 0; at < patch.length;) {
    const line = lineAt(at)
    const next = at + line.length + 1
    at = reader.read(line, at, next, () => lineAt(next))
  }
  return reader.end(patch.length)
}
