import type { Report } from './findings.ts'
import type { HashedEvent } from './hashed-event.ts'
import type { StoredLeaf } from './leaf-rows.ts'

/** Reports how an event differs from its leaf. */
export const reportDifferences = (event: HashedEvent, leaf: StoredLeaf, report: Report): void => {
  const { id, stream, revision, position } = event
  const found = { stream, revision, id, leaf: leaf.index }
  if (!event.hash.equals(leaf.hash)) report({ kind: 'changed', ...found, detail: `it differs from leaf ${leaf.index}` })
  if (leaf.stream !== stream || leaf.revision !== revision || leaf.position !== position)
    report({
      kind: 'moved',
      ...found,
      detail: `it is at position ${position}; leaf ${leaf.index} says position ${leaf.position} and ${leaf.stream} revision ${leaf.revision}`,
    })
}

export const reportReordered = ({ stream, revision, id, index }: StoredLeaf, detail: string, report: Report): void =>
  report({ kind: 'reordered', stream, revision, id, leaf: index, detail })

export const reportInserted = (
  { stream, revision, id, position }: HashedEvent,
  covered: bigint,
  report: Report,
): void =>
  report({
    kind: 'inserted',
    stream,
    revision,
    id,
    detail: `it is at position ${position} and has no leaf, but all events up to position ${covered} must have one`,
  })

/** Checks that the revisions of each stream ascend: revisions are not hashed, so they could be changed in log and leaves alike. */
export const newRevisionCheck = (report: Report) => {
  /** The last revision of each stream so far. */
  const revisions = new Map<string, bigint>()
  return ({ stream, revision, id }: HashedEvent): void => {
    const before = revisions.get(stream)
    if (before !== undefined && revision <= before)
      report({ kind: 'reordered', stream, revision, id, detail: `it comes after revision ${before} of its stream` })
    else revisions.set(stream, revision)
  }
}
