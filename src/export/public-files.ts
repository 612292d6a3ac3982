import { newRecentChanges } from '../engine/recent-changes.ts'
import { newSizedCache, textBytes } from '../engine/sized-cache.ts'
import type { ExportFormat } from '../contract/export.ts'

/** Of the other one nothing is made: it is what is stored. */
type Format = Exclude<ExportFormat, 'json'>
const FORMATS: readonly Format[] = ['md', 'html']

/** What a file shows: a trace at a revision, as the API shows it with its names in JSON text, in a format. */
export type Shown = {
  readonly traceId: string
  readonly incarnation: bigint
  readonly revision: bigint
  readonly trace: string
  readonly format: Format
}

/** A file that is kept once it has been made to its end. */
export type Draft = {
  add(text: string): void
  /** It is whole. */
  keep(): void
  /** Called when it is not needed any more, whole or not. */
  drop(): void
}

/**
 * Files that were made of public traces, in bounded memory: of a trace the newest in each format. Who asks for one has checked that
 * its reader may read the trace, and that it is public. What an event has changed, unpublished or deleted is dropped before that
 * write is answered.
 */
export type PublicFiles = {
  /** The pieces of a file. */
  get(shown: Shown): readonly string[] | undefined
  /** `position`: the checkpoint of a snapshot before or of what is shown; what has changed since is not kept. */
  begin(shown: Shown, position: bigint): Draft
  observe(event: { readonly position: bigint; readonly topics: readonly string[] }): void
  clear(): void
  /** The same for a log in another epoch: positions begin anew. */
  restart(): void
}

const MiB = 1024 * 1024
const MOST_KEPT_BYTES = 32 * MiB
/** Of all files that are being made; so a slow reader, who is made one for, does not hold much. */
const MOST_DRAFT_BYTES = 16 * MiB
const MOST_FILE_BYTES = 8 * MiB
const PIECE_LENGTH = 64 * 1024
const REMEMBERED_CHANGES = 1_000

type Kept = { readonly shown: Shown; readonly pieces: readonly string[] }
type Growing = { readonly pieces: string[]; bytes: number }

const keyOf = (traceId: string, format: Format) => `${format} ${traceId}`

const isEqual = (one: Shown, other: Shown) =>
  one.incarnation === other.incarnation && one.revision === other.revision && one.trace === other.trace

/** `isCurrent` is false while this node does not follow the log: then nothing is kept, and nothing that was kept is shown. */
export const newPublicFiles = (isCurrent: () => boolean): PublicFiles => {
  const files = newSizedCache<Kept>(MOST_KEPT_BYTES, ({ shown, pieces }) => textBytes([shown.trace, ...pieces]))
  const drafts = newSizedCache<Growing>(MOST_DRAFT_BYTES, ({ bytes }) => bytes)
  const changes = newRecentChanges<readonly string[]>(REMEMBERED_CHANGES)
  let count = 0

  const get: PublicFiles['get'] = (shown) => {
    const kept = isCurrent() ? files.get(keyOf(shown.traceId, shown.format)) : undefined
    return kept && isEqual(kept.shown, shown) ? kept.pieces : undefined
  }

  const begin: PublicFiles['begin'] = (shown, position) => {
    const name = String((count += 1))
    const draft: Growing = { pieces: [], bytes: 0 }
    let waiting: string[] = []
    let length = 0
    drafts.set(name, draft)

    const isOver = () => drafts.get(name) !== draft
    const drop = () => drafts.delete(name)
    const isChanged = () => changes.since(position, (topics) => topics.includes(shown.traceId)) !== 'unchanged'

    const flush = () => {
      const piece = waiting.join('')
      waiting = []
      length = 0
      draft.pieces.push(piece)
      draft.bytes += textBytes([piece])
      if (draft.bytes > MOST_FILE_BYTES || isChanged() || !isCurrent()) drop()
      else drafts.set(name, draft) // the newest now, and heavier
    }

    const add = (text: string) => {
      if (text === '' || isOver()) return
      waiting.push(text)
      length += text.length
      if (length >= PIECE_LENGTH) flush()
    }

    const keep = () => {
      if (isOver()) return
      flush()
      if (!isOver()) files.set(keyOf(shown.traceId, shown.format), { shown, pieces: draft.pieces })
      drop()
    }

    return { add, keep, drop }
  }

  const observe: PublicFiles['observe'] = ({ position, topics }) => {
    changes.note(position, topics)
    for (const topic of topics) for (const format of FORMATS) files.delete(keyOf(topic, format))
  }

  const clear = () => {
    files.clear()
    drafts.clear()
  }

  const restart = () => {
    changes.restart()
    clear()
  }

  return { get, begin, observe, clear, restart }
}
