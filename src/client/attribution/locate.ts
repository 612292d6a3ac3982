import type { Hunk } from '../api/attribution.ts'
import { type BlamedLine, readBlame } from '../git/blame.ts'
import { byteLines } from '../git/byte-lines.ts'
import { changesOf, linesOfNewFile, uncommittedChanges } from '../git/changes.ts'
import type { OpenRepository } from '../git/open-repository.ts'
import type { PatchHunk, PatchItem } from '../git/patch.ts'
import { commitNamed } from '../git/revisions.ts'
import { GitFailed } from '../git/run-git.ts'
import { type Dates, type LineHash, askedHunk, isAskable } from './hunks.ts'
import type { LocatedLine } from './today.ts'

/** Some lines of a file: of a commit, or as the file is now. */
export type Place = {
  /** From the root of the repository. */
  readonly path: string
  /** The id of a commit. */
  readonly revision: string | undefined
  /** The first and the last line. */
  readonly lines: readonly [first: number, last: number] | undefined
  /** Whether the file is binary unless attributes say how to convert it: then its lines have NULs. */
  readonly mayBeBinary?: boolean
}

export type Located = { readonly lines: readonly LocatedLine[]; readonly hunks: readonly Hunk[] }

/** Hunks by commit, in the order of their lines; those of what is not committed by `NOT_COMMITTED`. */
type Patches = Map<string, PatchHunk<LineHash>[]>

type LineOf = (text: Buffer) => LineHash

const NOT_COMMITTED = ''

const blame = ({ stream }: OpenRepository, { path, revision, lines }: Place): Promise<BlamedLine[]> => {
  const range = lines ? [`-L${lines[0]},${lines[1]}`] : []
  const flags = ['-w', '-M', '-C', '--root', '--porcelain', '--no-textconv', ...range]
  const printed = stream(['blame', ...flags, ...(revision === undefined ? [] : [revision]), '--', path])
  return Array.fromAsync(readBlame(byteLines(printed)))
}

/** The lines of a file that git does not know, or of a repository without commits. */
const newLines = async (repository: OpenRepository, { path, lines }: Place): Promise<BlamedLine[]> => {
  const [first, last] = lines ?? [1, Infinity]
  const from = { sha: undefined, path, previousPath: undefined, at: 0, until: 0 }
  const hunks = await Array.fromAsync(linesOfNewFile(repository, path), (item) =>
    item.is === 'hunk' ? item.hunk.added : [],
  )
  return hunks
    .flat()
    .map((text, i) => ({ ...from, line: i + 1, original: i + 1, text }))
    .filter(({ line }) => line >= first && line <= last)
}

/** Where the lines come from. Of a file that git does not know no line is committed. @throws GitFailed */
const blamed = (repository: OpenRepository, place: Place): Promise<BlamedLine[]> =>
  blame(repository, place).catch(async (error: unknown) => {
    if (!(error instanceof GitFailed) || error.exitCode === undefined || place.revision !== undefined) throw error
    if (await isInHead(repository, place.path)) throw error
    return newLines(repository, place)
  })

const isInHead = ({ text }: OpenRepository, path: string): Promise<boolean> =>
  text(['cat-file', '-e', `HEAD:${path}`]).then(
    () => true,
    () => false,
  )

const addTo = async (patches: Patches, first: string, items: AsyncIterable<PatchItem<LineHash>>): Promise<void> => {
  let sha = first
  for await (const item of items) {
    if (item.is === 'commit') sha = item.sha
    if (item.is !== 'hunk') continue
    const hunks = patches.get(sha)
    if (hunks) hunks.push(item.hunk)
    else patches.set(sha, [item.hunk])
  }
}

/** What the commits of these lines did to the files that the lines come from, and what is not committed. */
const patchesOf = async (
  repository: OpenRepository,
  lines: readonly BlamedLine[],
  lineOf: LineOf,
): Promise<Patches> => {
  const paths = [...new Set(lines.flatMap(({ path, previousPath = path }) => [path, previousPath]))]
  const shas = new Set(lines.flatMap(({ sha = [] }) => sha))
  const patches: Patches = new Map()
  if (shas.size > 0) await addTo(patches, NOT_COMMITTED, changesOf(repository, shas, { lineOf, paths, isText: true }))
  const hasChanges = lines.some(({ sha }) => sha === undefined) && (await commitNamed(repository, 'HEAD'))
  if (hasChanges) await addTo(patches, NOT_COMMITTED, uncommittedChanges(repository, { lineOf, paths }))
  return patches
}

/** The hunk that has a line; hunks of one file are in the order of their lines. */
const hunkWith = <Hunk extends Pick<PatchHunk<LineHash>, 'start' | 'added'>>(
  hunks: readonly Hunk[],
  line: number,
): Hunk | undefined => {
  let [low, high] = [0, hunks.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (hunks[middle]!.start <= line) low = middle + 1
    else high = middle
  }
  const hunk = hunks[low - 1]
  return hunk && line < hunk.start + hunk.added.length ? hunk : undefined
}

/** Hunks by commit and path. */
const byFile = (patches: Patches): ReadonlyMap<string, readonly PatchHunk<LineHash>[]> =>
  new Map(
    [...patches].flatMap(([sha, hunks]) =>
      [...Map.groupBy(hunks, ({ path }) => path)].map(([path, of]) => [`${sha} ${path}`, of] as const),
    ),
  )

/** A hunk that is made of today's lines, because none of the commit has them: those of a merge, or of a file that was changed while it was read. */
type OwnHunk = Omit<PatchHunk<LineHash>, 'added'> & { readonly sha: string | undefined; readonly added: LineHash[] }

const newOwnHunks = () => {
  let last: OwnHunk | undefined
  return ({ sha, path, original }: BlamedLine, hash: LineHash): OwnHunk => {
    const continues = last?.sha === sha && last?.path === path && last.start + last.added.length === original
    if (!last || !continues) last = { sha, path, previousPath: undefined, start: original, added: [], removed: [] }
    last.added.push(hash)
    return last
  }
}

/**
 * Finds out where the lines of a file come from, and gives the hunks by which they are asked for: what their commits did there. A file may be changed while it
 * is read: a line that is not committed has to be the one that its hunk has. @throws GitFailed
 */
export const locateLines = async (repository: OpenRepository, place: Place, lineOf: LineOf): Promise<Located> => {
  const found = await blamed(repository, place)
  const files = byFile(await patchesOf(repository, found, lineOf))
  const ownHunk = newOwnHunks()
  const indexes = new Map<PatchHunk<LineHash>, number>()
  const asked: { readonly patch: PatchHunk<LineHash>; readonly dates: Dates }[] = []
  const lines = found.map((from): LocatedLine => {
    const { line, sha: commit, original, path, at, until } = from
    const hash = lineOf(from.text)
    const located = { line, commit, hash, text: from.text.toString('utf8') }
    if (!isAskable(path)) return { ...located, added: undefined }
    const known = hunkWith(files.get(`${commit ?? NOT_COMMITTED} ${path}`) ?? [], original)
    const isSame = commit !== undefined || known?.added[original - known.start] === hash
    const patch = known && isSame ? known : ownHunk(from, hash)
    const hunk =
      indexes.get(patch) ?? asked.push({ patch, dates: commit === undefined ? undefined : { at, until } }) - 1
    indexes.set(patch, hunk)
    return { ...located, added: { hunk, line: original } }
  })
  return { lines, hunks: asked.map(({ patch, dates }) => askedHunk(patch, dates)) }
}
