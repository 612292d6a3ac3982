import type { ReadOptions, Session, SessionMessage } from '../agent.ts'
import { isEncoded } from './chunks.ts'
import { type Content, contentOf } from './content.ts'
import type { ReadSessionFile } from './files.ts'
import { newKeptLines } from './kept-lines.ts'
import type { LineParser } from './line-parser.ts'
import { beginning, numberAt, type ObjectLine, objectLinesInParts, type OnDamaged, type Place } from './lines.ts'
import { newUnknownKinds, type UnknownKinds } from './unknown-kinds.ts'

/** The lines of a file from the place `at` on, which moves with them, in parts (`linesInParts`). */
type ReadLines = (path: string, size: number, onDamaged: OnDamaged, at: Place) => AsyncIterable<Iterable<ObjectLine>>

type Source<State> = {
  readonly path: string
  readonly size: number
  readonly parser: LineParser<State>
  readonly lines: ReadLines
}

/** The states of both readings at the place where they have ended; `content` is what the file had until there, or more. */
type Live<State> = {
  readonly parser: LineParser<State>
  readonly ahead: State
  readonly state: State
  readonly place: Place
  readonly content: Content
  readonly externalId: string
  readonly unknown: UnknownKinds
}

/** A line, and how many of its bytes are lost (`OnDamaged`). */
type Damage = { readonly line: number; readonly lost: number | undefined }

/** The result of a first reading of some lines. `kept` are these lines, if they are few. */
type Ahead = {
  readonly damaged: readonly Damage[]
  readonly objects: number
  /** Whether the parser understands any of them. */
  readonly isUnderstood: boolean
  /** Whether the last one has no newline yet: it may still become another line. */
  readonly isTorn: boolean
  /** What the parser does not know, also before these lines. */
  readonly unknown: UnknownKinds
  readonly kept: readonly ObjectLine[] | undefined
}

/** Steps `ahead` through the lines from `at` on. */
const readAhead = async <State>(
  { path, size, parser, lines }: Source<State>,
  ahead: State,
  at: Place,
  known?: UnknownKinds,
): Promise<Ahead> => {
  const damaged: Damage[] = []
  const unknown = newUnknownKinds(known)
  const keeping = newKeptLines(parser.keep)
  let [objects, isUnderstood, isTorn] = [0, false, false]
  for await (const part of lines(path, size, (line, lost) => void damaged.push({ line, lost }), at))
    for (const line of part) {
      objects++
      isUnderstood ||= parser.understands(line.json)
      isTorn = !line.ended
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

/** Reads all lines. `content` is what the file has, if the next reading is to go on from here. */
const wholeSession = async <State>(
  source: Source<State>,
  content: Content | undefined,
  onMalformed: ReadOptions['onMalformed'],
): Promise<Session> => {
  const { path, size, parser, lines } = source
  const place = beginning()
  const ahead = await parser.start({ path, size, ahead: undefined })
  const read = await readAhead(source, ahead, place)
  const { damaged, objects, isUnderstood, isTorn, unknown } = read
  let { kept } = read
  const described = await parser.describe(ahead, path)
  for (const { line, lost } of damaged) onMalformed(line, lost)
  let reached: State | undefined
  const isKept = kept !== undefined
  const make = async function* () {
    const state = await parser.start({ path, size, ahead })
    for await (const part of kept ? [kept] : lines(path, size, () => {}, beginning()))
      for (const line of part) for (const message of parser.step(state, line)) yield message
    kept = undefined
    reached = state
  }
  const live = (): Live<State> | undefined =>
    content && reached && isUnderstood && !isTorn
      ? { parser, ahead, state: reached, place, content, externalId: described.externalId, unknown }
      : undefined
  return {
    ...described,
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
  content: Content,
  onMalformed: ReadOptions['onMalformed'],
): Promise<Session | undefined> => {
  const { path, parser } = source
  const { ahead, state } = before
  const place = { ...before.place }
  const { damaged, isTorn, kept, unknown } = await readAhead(source, ahead, place, before.unknown)
  const described = await parser.describe(ahead, path)
  if (!kept || isTorn || described.externalId !== before.externalId) return undefined
  if (parser.reachesBack?.(ahead, numberAt(before.place)) === true) return undefined
  for (const { line, lost } of damaged) onMalformed(line, lost)
  const messages = kept.flatMap((line) => parser.step(state, line))
  return {
    ...described,
    skippedLines: damaged.length,
    ...leftOutOf(unknown),
    isContinued: true,
    isKept: true,
    messages: async function* () {
      yield* messages
    },
    live: (): Live<State> => ({ ...before, place, content, unknown }),
  }
}

/** Reads a file of lines, whole, or only the lines that were added since an earlier reading. */
export const sessionOfLines =
  <State>(parser: LineParser<State>, lines: ReadLines = objectLinesInParts(parser.understands)): ReadSessionFile =>
  async (path, { size, onMalformed, goOn }): Promise<Session> => {
    const source = { path, size, parser, lines }
    if (!goOn || isEncoded(path)) return wholeSession(source, undefined, onMalformed)
    const before = goOn.from as Live<State> | undefined
    const { content, isGrown } = await contentOf(path, size, before?.content)
    const added =
      before && isGrown && before.parser === parser
        ? await addedSession(source, before, content, onMalformed)
        : undefined
    return added ?? wholeSession(source, content, onMalformed)
  }
