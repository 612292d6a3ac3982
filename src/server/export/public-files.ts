import { newRecentChanges } from '../../eventstore/engine/recent-changes.ts'
import { newSizedCache, textBytes } from '../../eventstore/engine/sized-cache.ts'
import { newPieces } from '../../base/pieces.ts'
import type { ExportFormat } from '../../contract/export.ts'

/** JSON files are not cached: making them from stored JSON text costs almost nothing. `page` is the page for a reader who is not signed in. */
type Format = Exclude<ExportFormat, 'json'> | 'page'
const FORMATS: readonly Format[] = ['md', 'html', 'page']

/** The values that determine the content of a file. `trace` is the JSON text of the trace as the API shows it, with its names. */
export type FileVersion = {
  readonly traceId: string
  readonly incarnation: bigint
  readonly revision: bigint
  readonly trace: string
  readonly format: Format
}

/** A file that is being made, to be cached when it is complete. */
export type Draft = {
  add(text: string): void
  /** Caches the file, which is complete. */
  keep(): void
  /** Frees its memory. To be called in any case, complete or not. */
  drop(): void
}

/**
 * A cache of files of public traces in bounded memory: for each trace the newest file in each format. The caller has to check that
 * the trace is public, and that its reader may read it. An event of a trace removes its files before the write is answered.
 */
export type PublicFiles = {
  /** The pieces of the cached file; undefined if there is none. */
  get(version: FileVersion): readonly string[] | undefined
  /**
   * Begins a file. `position` is the checkpoint of a snapshot that is not newer than the content: if the trace has changed after it, the file is
   * not cached.
   */
  begin(version: FileVersion, position: bigint): Draft
  observe(event: { readonly position: bigint; readonly topics: readonly string[] }): void
  clear(): void
}

const MiB = 1024 * 1024
const MOST_KEPT_BYTES = 32 * MiB
/** The limit of all drafts together: slow readers keep many of them, because a file is made only as fast as its reader takes it. */
const MOST_DRAFT_BYTES = 16 * MiB
const MOST_FILE_BYTES = 8 * MiB
/** How many events are remembered, to know whether a trace has changed while its file was made. */
const REMEMBERED_CHANGES = 1_000

type CachedFile = { readonly version: FileVersion; readonly pieces: readonly string[] }
type DraftContent = { readonly pieces: string[]; bytes: number }

const keyOf = (traceId: string, format: Format) => `${format} ${traceId}`

const isEqual = (one: FileVersion, other: FileVersion) =>
  one.incarnation === other.incarnation && one.revision === other.revision && one.trace === other.trace

/** `isCurrent` returns false while this node does not follow the log: then the cache is not used. */
export const newPublicFiles = (isCurrent: () => boolean): PublicFiles => {
  const files = newSizedCache<CachedFile>(MOST_KEPT_BYTES, ({ version, pieces }) =>
    textBytes([version.trace, ...pieces]),
  )
  const drafts = newSizedCache<DraftContent>(MOST_DRAFT_BYTES, ({ bytes }) => bytes)
  const changes = newRecentChanges<readonly string[]>(REMEMBERED_CHANGES)
  let count = 0

  const get: PublicFiles['get'] = (version) => {
    const kept = isCurrent() ? files.get(keyOf(version.traceId, version.format)) : undefined
    return kept && isEqual(kept.version, version) ? kept.pieces : undefined
  }

  const begin: PublicFiles['begin'] = (version, position) => {
    const name = String((count += 1))
    const draft: DraftContent = { pieces: [], bytes: 0 }
    const waiting = newPieces()
    drafts.set(name, draft)

    const isOver = () => drafts.get(name) !== draft
    const drop = () => void drafts.delete(name)
    const isChanged = () => changes.since(position, (topics) => topics.includes(version.traceId)) !== 'unchanged'

    const flush = () => {
      const piece = waiting.take()
      draft.pieces.push(piece)
      draft.bytes += textBytes([piece])
      if (draft.bytes > MOST_FILE_BYTES || isChanged() || !isCurrent()) drop()
      else drafts.set(name, draft) // makes this draft the newest, with its new size
    }

    const add = (text: string) => {
      if (isOver()) return
      waiting.add(text)
      if (waiting.isFull()) flush()
    }

    const keep = () => {
      if (isOver()) return
      flush()
      if (!isOver()) files.set(keyOf(version.traceId, version.format), { version, pieces: draft.pieces })
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

  return { get, begin, observe, clear }
}
