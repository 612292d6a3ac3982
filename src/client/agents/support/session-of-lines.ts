import type { ReadOptions, Session, SessionMessage } from '../agent.ts'
import { isEncoded } from './chunks.ts'
import { type Content, contentOf } from './content.ts'
import type { ReadSessionFiles } from './files.ts'
import { newKeptLines } from './kept-lines.ts'
import type { LineParser } from './line-parser.ts'
import { beginning, numberAt, type ObjectLine, objectLinesInParts, type OnDamaged, type Place } from './lines.ts'
import { inOrder, type Merge, mergedLines, newMerge } from './merged-lines.ts'
import type { Parts, ReadLines } from './sequence.ts'
import { newUnknownKinds, type UnknownKinds } from './unknown-kinds.ts'

/** How far the lines of a session were read: of one file, or of several. */
type At = Place | Merge

/** The lines of a session as it is in its files; `path` is the first one. */
type Source<State> = {
  readonly path: string
  readonly parts: Parts
  /** The folders in which the files were begun, each once. */
  readonly folders: readonly string[]
  readonly parser: LineParser<State>
  readonly begin: () => At
  /** The lines from a place on, which moves with them. */
  readonly lines: (onDamaged: OnDamaged, at: At) => AsyncIterable<Iterable<ObjectLine>>
}

const isMerge = (at: At): at is Merge => 'files' in at

/** The number of the next line. */
const nextAt = (at: At): number => (isMerge(at) ? at.last + 1 : numberAt(at))

/** What a session is read from: most have one file. */
const sourceOf = async <State>(
  parser: LineParser<State>,
  readLines: ReadLines,
  parts: Parts,
): Promise<Source<State>> => {
  const [{ path, size }, ...others] = parts
  const { sequence = {} } = parser
  if (others.length === 0 && sequence.continues?.(path) !== true)
    return {
      path,
      parts,
      folders: [],
      parser,
      begin: beginning,
      lines: (onDamaged, at) => readLines(path, size, onDamaged, at as Place),
    }
  const ordered = await inOrder(readLines, sequence, parts)
  const merged = mergedLines(readLines, sequence)
  const folders = [...new Set(ordered.flatMap(({ folder }) => folder ?? []))]
  return {
    ...{ path: ordered[0]!.path, parts, folders, parser, begin: newMerge },
    lines: (onDamaged, at) => merged(ordered, onDamaged, at as Merge),
  }
}

async function* allLines<State>({ lines, begin }: Source<State>): AsyncGenerator<ObjectLine> {
  for await (const part of lines(() => {}, begin())) yield* part
}

/** The states of both readings at the place where they have ended; `contents` are what the files had until there, or more. */
type Live<State> = {
  readonly parser: LineParser<State>
  readonly ahead: State
  readonly state: State
  readonly at: At
  readonly contents: Contents
  readonly externalId: string
  readonly unknown: UnknownKinds
}

/** A line, how many of its bytes are lost, and its file (`OnDamaged`). */
type Damage = Parameters<OnDamaged>

/** The result of a first reading of some lines. `kept` are these lines, if they are few. */
type Ahead = {
  readonly damaged: readonly Damage[]
  readonly objects: number
  /** Whether the parser understands any of them. */
  readonly isUnderstood: boolean
  /** Whether the last one of a file has no newline yet: it may still become another line. */
  readonly isTorn: boolean
  /** What the parser does not know, also before these lines. */
  readonly unknown: UnknownKinds
  readonly kept: readonly ObjectLine[] | undefined
}

/** Steps `ahead` through the lines from `at` on. */
const readAhead = async <State>(
  { parser, lines }: Source<State>,
  ahead: State,
  at: At,
  known?: UnknownKinds,
): Promise<Ahead> => {
  const damaged: Damage[] = []
  const unknown = newUnknownKinds(known)
  const keeping = newKeptLines(parser.keep)
  let [objects, isUnderstood, isTorn] = [0, false, false]
  for await (const part of lines((...damage) => void damaged.push(damage), at))
    for (const line of part) {
      objects++
      isUnderstood ||= parser.understands(line.json)
      isTorn ||= !line.ended
      for (const kind of parser.unknownIn?.(line.json, ahead) ?? []) unknown.add(kind)
      parser.step(ahead, line)
      keeping.add(line)
    }
  return { damaged, objects, isUnderstood, isTorn, unknown: unknown.counts(), kept: keeping.all() }
}

/** What was left out; nothing where no line was understood, which is said instead. */
const leftOutOf = (unknown: UnknownKinds): Pick<Session, 'leftOut'> => (unknown.size === 0 ? {} : { leftOut: unknown })

/** The messages of a session, which `make` reads again for each call, unless they are few enough to be kept until the next one. */
const messagesOf = (isKept: boolean, make: () => AsyncIterable<SessionMessage>): Session['messages'] => {
  let made: readonly SessionMessage[] | undefined
  return async function* ({ again = false } = {}) {
    const known = made
    if (!again) made = undefined
    if (known) {
      for (const message of known) yield message
      return
    }
    const all: SessionMessage[] = []
    for await (const message of make()) {
      if (isKept && again) all.push(message)
      yield message
    }
    if (isKept && again) made = all
  }
}

/** Reads all lines. `contents` are what the files have, if the next reading is to go on from here. */
const wholeSession = async <State>(
  source: Source<State>,
  contents: Contents | undefined,
  onMalformed: ReadOptions['onMalformed'],
): Promise<Session> => {
  const { path, parts, parser, lines, begin } = source
  const at = begin()
  const start = (ahead: State | undefined) => parser.start({ path, parts, lines: () => allLines(source), ahead })
  const ahead = await start(undefined)
  const read = await readAhead(source, ahead, at)
  const { damaged, objects, isUnderstood, isTorn, unknown } = read
  let { kept } = read
  const described = await parser.describe(ahead, path)
  for (const damage of damaged) onMalformed(...damage)
  let reached: State | undefined
  const isKept = kept !== undefined
  const make = async function* () {
    const state = await start(ahead)
    for await (const part of kept ? [kept] : lines(() => {}, begin()))
      for (const line of part) for (const message of parser.step(state, line)) yield message
    kept = undefined
    reached = state
  }
  const live = (): Live<State> | undefined =>
    contents && reached && isUnderstood && !isTorn
      ? { parser, ahead, state: reached, at, contents, externalId: described.externalId, unknown }
      : undefined
  return {
    ...described,
    ...(source.folders.length > 1 ? { folders: source.folders } : {}),
    skippedLines: damaged.length,
    ...(isUnderstood || objects === 0 ? leftOutOf(unknown) : { unknownLines: objects + damaged.length }),
    isKept,
    messages: messagesOf(isKept, make),
    live,
  }
}

/** Reads only the lines that were added to what was read before; undefined if the session has to be read whole. */
const addedSession = async <State>(
  source: Source<State>,
  before: Live<State>,
  contents: Contents,
  onMalformed: ReadOptions['onMalformed'],
): Promise<Session | undefined> => {
  const { path, parser } = source
  const { ahead, state, at } = before
  const added = nextAt(at)
  const { damaged, isTorn, kept, unknown } = await readAhead(source, ahead, at, before.unknown)
  const described = await parser.describe(ahead, path)
  if (!kept || isTorn || described.externalId !== before.externalId) return undefined
  if ((isMerge(at) && at.isOutOfOrder) || parser.reachesBack?.(ahead, added) === true) return undefined
  for (const damage of damaged) onMalformed(...damage)
  const messages = kept.flatMap((line) => parser.step(state, line))
  return {
    ...described,
    ...(source.folders.length > 1 ? { folders: source.folders } : {}),
    skippedLines: damaged.length,
    ...leftOutOf(unknown),
    isContinued: true,
    isKept: true,
    messages: async function* () {
      yield* messages
    },
    live: (): Live<State> => ({ ...before, contents, unknown }),
  }
}

/** What the files of a session have, by their paths. */
type Contents = ReadonlyMap<string, Content>

/** What the files have, and whether those of an earlier reading are there, and begin with what they had then. */
const contentsOf = async (
  parts: Parts,
  before: Contents | undefined,
): Promise<{ readonly contents: Contents; readonly isGrown: boolean }> => {
  const contents = new Map<string, Content>()
  const grown = new Set<string>()
  for (const { path, size } of parts) {
    const { content, isGrown } = await contentOf(path, size, before?.get(path))
    contents.set(path, content)
    if (isGrown) grown.add(path)
  }
  return { contents, isGrown: before !== undefined && before.keys().every((path) => grown.has(path)) }
}

/** Reads a session in files of lines, whole, or only the lines that were added since an earlier reading. */
export const sessionOfLines =
  <State>(parser: LineParser<State>, readLines: ReadLines = objectLinesInParts(parser.understands)): ReadSessionFiles =>
  async (parts, { onMalformed, goOn }): Promise<Session> => {
    const source = await sourceOf(parser, readLines, parts)
    if (!goOn || parts.some(({ path }) => isEncoded(path))) return wholeSession(source, undefined, onMalformed)
    const before = goOn.from as Live<State> | undefined
    const { contents, isGrown } = await contentsOf(parts, before?.contents)
    const isSameKind = before?.parser === parser && isMerge(before.at) === isMerge(source.begin())
    const added =
      before && isGrown && isSameKind ? await addedSession(source, before, contents, onMalformed) : undefined
    return added ?? wholeSession(source, contents, onMalformed)
  }
