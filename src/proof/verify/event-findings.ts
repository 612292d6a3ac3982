import type { Report } from './findings.ts'
import type { HashedEvent } from './hashed-event.ts'
import type { StoredLeaf } from './leaf-rows.ts'

/** Says in what an event differs from its leaf. */
export const reportDifferences = (event: HashedEvent, leaf: StoredLeaf, report: Report): void => {
  const { id, stream, revision, position } = event
  const found = { stream, revision, id, leaf: leaf.index }
  if (!event.hash.equals(leaf.hash))
    report({ kind: 'changed', ...found, detail: `it is not what leaf ${leaf.index} says` })
  if (leaf.stream !== stream || leaf.revision !== revision || leaf.position !== position)
    report({
      kind: 'moved',
      ...found,
      detail: `at position ${position}; leaf ${leaf.index} says position ${leaf.position} and ${leaf.stream} revision ${leaf.revision}`,
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
    detail: `it has no leaf, though all up to position ${covered} are covered (it is at ${position})`,
  })

/**
 * Checks that the revisions of each stream ascend. No leaf covers revisions: who changes them in log and leaves alike changes no
 * hash.
 */
export const newRevisionCheck = (report: Report) => {
  /** The last revision of each stream so far. */
  const revisions = new Map<string, bigint>()
  return ({ stream, revision, id }: HashedEvent): void => {
    const before = revisions.get(stream)
    if (before !== undefined && revision <= before)
      report({ kind: 'reordered', stream, revision, id, detail: `it comes behind revision ${before} of its stream` })
    else revisions.set(stream, revision)
  }
}
