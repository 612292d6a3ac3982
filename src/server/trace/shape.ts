import type { SessionShape } from '../../contract/trace.ts'
import { newOpenCalls } from '../../transcript/open-calls.ts'
import type { CallEdit, Fact } from './messages/facts.ts'

/** Whether a message is of the user, whether it has a text beside its parts, and the facts of its parts. */
export type MessageFacts = { readonly isOfUser: boolean; readonly hasText: boolean; readonly facts: readonly Fact[] }

type CallCounts = [calls: number, edits: number, failed: number]

/**
 * A call of a session: the ordinal of its message, its place among the calls of that, the quarter of an hour of the message (`slotOf` in
 * `../../tables/usage.ts`), and the tool.
 */
export type CallPlace = {
  readonly ordinal: number
  readonly nth: number
  readonly slot: number
  readonly tool: string
}

/** A call without a result so far, and the index of the segment that it is in. A segment is a prompt, or several, with the calls after it. */
type OpenCall = {
  readonly id: string
  segment: number
  readonly edit?: CallEdit | undefined
  readonly place?: CallPlace | undefined
}

type Totals = { prompts: number; calls: number; failed: number; added: number; removed: number }

/** The state of a shape after the first messages of a session: plain JSON of bounded size. */
export type SavedShape = Readonly<Totals> & {
  readonly files: readonly string[]
  /** How many prompts each segment has; the last one may have fewer. */
  readonly each: number
  readonly segments: readonly CallCounts[]
  readonly open: readonly OpenCall[]
}

const NOTHING: SavedShape = {
  prompts: 0,
  calls: 0,
  failed: 0,
  added: 0,
  removed: 0,
  files: [],
  each: 1,
  segments: [],
  open: [],
}

/** The most segments that answers show. */
const MOST_SHOWN = 64
/**
 * The most segments: if there were more, each two become one. Many more than are shown, so that all shown segments have about equally many
 * prompts.
 */
const MOST_SEGMENTS = 1_024
/** How many different files are counted. */
const MOST_FILES = 4_096
/** The most files and segments, together, of a shape that counts as small. */
const MOST_SMALL = 1_000

/** Adds up neighbouring segments, evenly, so that `most` remain. */
const merged = (segments: readonly CallCounts[], most: number): CallCounts[] => {
  const some = Array.from({ length: most }, (): CallCounts => [0, 0, 0])
  for (const [i, segment] of segments.entries()) {
    const into = some[Math.floor((i * most) / segments.length)]!
    for (const k of [0, 1, 2] as const) into[k] += segment[k]
  }
  return some
}

/**
 * Computes the shape of a session from its messages in list order, from the beginning or from what is saved of the first ones. The number of
 * calls that it remembers is bounded: a result that comes after very many other calls is ignored.
 */
export class ShapeSoFar {
  readonly #totals: Totals
  readonly #files: Set<string>
  readonly #open = newOpenCalls<OpenCall>(({ edit }) => edit?.files.length ?? 0)
  #each: number
  #segments: CallCounts[]
  #failed: CallPlace[] = []

  constructor({ files, each, segments, open, ...totals }: SavedShape = NOTHING) {
    this.#totals = { ...totals }
    this.#files = new Set(files)
    this.#each = each
    this.#segments = segments.map((segment) => [...segment])
    for (const call of open) this.#open.add({ ...call })
  }

  /** @param places those of the calls of the message, as far as they are known */
  add({ isOfUser, hasText, facts }: MessageFacts, places: readonly CallPlace[] = []): void {
    if (isOfUser && (hasText || facts.some(({ is }) => is === 'text'))) this.#addPrompt()
    const own: OpenCall[] = []
    for (const fact of facts) {
      if (fact.is === 'call') own.push(this.#addCall({ ...fact, place: places[own.length] }))
      else if (fact.is === 'result') this.#end(this.#open.oldestWith(fact.id), fact.hasFailed)
      // An error says that the last call before it in its message has failed, if that has no result.
      else if (fact.is === 'error') this.#end(own.at(-1), true)
    }
  }

  /** Calls before the first prompt are in its segment. */
  #addPrompt(): void {
    const at = Math.floor(this.#totals.prompts / this.#each)
    this.#totals.prompts += 1
    if (at < this.#segments.length) return
    this.#segments.push([0, 0, 0])
    if (this.#segments.length <= MOST_SEGMENTS) return
    this.#segments.push([0, 0, 0]) // an even number, so that each two become one
    this.#segments = merged(this.#segments, this.#segments.length / 2)
    this.#each *= 2
    for (const call of this.#open.all()) call.segment >>= 1
  }

  #addCall({ id, edit, place }: Omit<OpenCall, 'segment'>): OpenCall {
    if (this.#segments.length === 0) this.#segments.push([0, 0, 0])
    const call = { id, edit, place, segment: this.#segments.length - 1 }
    this.#totals.calls += 1
    this.#segments[call.segment]![0] += 1
    for (const old of this.#open.add(call)) this.#count(old, false)
    return call
  }

  #end(call: OpenCall | undefined, hasFailed: boolean): void {
    if (call && this.#open.take(call)) this.#count(call, hasFailed)
  }

  #count(call: OpenCall, hasFailed: boolean): void {
    const segment = this.#segments[call.segment]!
    if (hasFailed) {
      this.#totals.failed += 1
      if (call.place) this.#failed.push(call.place)
      segment[2] += 1
    } else if (call.edit) {
      this.#totals.added += call.edit.added
      this.#totals.removed += call.edit.removed
      for (const file of call.edit.files) if (this.#files.size < MOST_FILES) this.#files.add(file)
      segment[1] += 1
    }
  }

  /** The shape of the messages so far. A call without a result has not failed. */
  shape(): SessionShape {
    const all = new ShapeSoFar(this.saved())
    for (const call of all.#open.all()) all.#count(call, false)
    const { prompts, calls, failed, added, removed } = all.#totals
    const shown = prompts === 0 ? [] : all.#segments
    const segments = shown.length > MOST_SHOWN ? merged(shown, MOST_SHOWN) : shown
    return { prompts, calls, failed, files: all.#files.size, added, removed, segments }
  }

  /** The calls whose place is known that have failed since this was last asked. */
  takeFailed(): CallPlace[] {
    const failed = this.#failed
    this.#failed = []
    return failed
  }

  /** The calls whose place is known that have no result so far. */
  openPlaces(): CallPlace[] {
    return [...this.#open.all()].flatMap(({ place }) => place ?? [])
  }

  /** Whether it takes little memory. */
  get isSmall(): boolean {
    return this.#files.size + this.#segments.length <= MOST_SMALL
  }

  saved(): SavedShape {
    const open = [...this.#open.all()]
    const rest = { files: [...this.#files], each: this.#each, segments: this.#segments, open }
    return { ...this.#totals, ...rest }
  }
}
