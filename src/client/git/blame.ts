import { unquotedPath } from './quoted-path.ts'

/** Where a line of today comes from. */
export type BlamedLine = {
  /** Its number today. */
  readonly line: number
  /** The commit; undefined if it is not committed. */
  readonly sha: string | undefined
  /** Its number in the file as the commit has it. */
  readonly original: number
  /** The path of the file as the commit has it. */
  readonly path: string
  /** The path before the commit; undefined if the file began with it. */
  readonly previousPath: string | undefined
  /** When the commit was authored and committed, in milliseconds. */
  readonly at: number
  readonly until: number
  readonly text: Buffer
}

/** What git says once of a commit; its paths again where a commit has several. */
type Details = { at: number; until: number; path: string; previousPath: string | undefined }

const HEADER = /^([0-9a-f]{40}(?:[0-9a-f]{24})?) (\d+) (\d+)/
const NOT_COMMITTED = /^0+$/
const TAB = 0x09

const seconds = (line: Buffer, name: string): number => Number(line.toString('latin1', name.length)) * 1_000

/** Takes a line such as `author-time 1767366245`. */
const takeDetail = (details: Details, line: Buffer): void => {
  const name = line.toString('latin1', 0, line.indexOf(' ') + 1)
  if (name === 'author-time ') details.at = seconds(line, name)
  else if (name === 'committer-time ') details.until = seconds(line, name)
  else if (name === 'filename ') details.path = unquotedPath(line.subarray(name.length))
  else if (name === 'previous ') details.previousPath = unquotedPath(line.subarray(line.indexOf(' ', name.length) + 1))
}

/** Reads what `git blame --porcelain` prints. */
export async function* readBlame(lines: AsyncIterable<Buffer>): AsyncGenerator<BlamedLine, void> {
  const commits = new Map<string, Details>()
  let [sha, original, today] = ['', 0, 0]
  for await (const line of lines) {
    const known = commits.get(sha)
    if (line[0] === TAB && known) {
      const committed = NOT_COMMITTED.test(sha) ? undefined : sha
      yield { line: today, sha: committed, original, ...known, text: line.subarray(1) }
      continue
    }
    const header = HEADER.exec(line.subarray(0, 128).toString('latin1'))
    if (header) {
      sha = header[1]!
      ;[original, today] = [Number(header[2]), Number(header[3])]
      if (!commits.has(sha)) commits.set(sha, { at: 0, until: 0, path: '', previousPath: undefined })
    } else if (known) takeDetail(known, line)
  }
}
