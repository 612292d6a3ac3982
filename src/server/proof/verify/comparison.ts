import type { Report } from './findings.ts'
import type { HashedEvent } from './hashed-event.ts'
import type { StoredLeaf } from './leaf-rows.ts'
import type { LeafWindow } from './leaf-window.ts'
import { newMissingCounts } from './missing-counts.ts'

/** Reports how an event differs from its leaf. */
const reportDifferences = (event: HashedEvent, leaf: StoredLeaf, report: Report): void => {
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

const reportReordered = ({ stream, revision, id, index }: StoredLeaf, detail: string, report: Report): void =>
  report({ kind: 'reordered', stream, revision, id, leaf: index, detail })

const reportInserted = ({ stream, revision, id, position }: HashedEvent, covered: bigint, report: Report): void =>
  report({
    kind: 'inserted',
    stream,
    revision,
    id,
    detail: `it is at position ${position} and has no leaf, but all events up to position ${covered} must have one`,
  })

/** Checks that the revisions of each stream ascend: revisions are not hashed, so they could be changed in log and leaves alike. */
const newRevisionCheck = (report: Report) => {
  /** The last revision of each stream so far. */
  const revisions = new Map<string, bigint>()
  return ({ stream, revision, id }: HashedEvent): void => {
    const before = revisions.get(stream)
    if (before !== undefined && revision <= before)
      report({ kind: 'reordered', stream, revision, id, detail: `it comes after revision ${before} of its stream` })
    else revisions.set(stream, revision)
  }
}

type ComparisonOptions = {
  readonly leaves: LeafWindow
  /** The position up to which all events must have leaves. */
  readonly covered: bigint
  /** All leaves of an event, including those that are not in memory. */
  readonly findLeaves: (id: string) => Promise<StoredLeaf[]>
  readonly report: Report
}

/**
 * Compares the events of the log with the leaves, both in their order. A leaf may have no event only if its stream was erased: then the deletion of
 * the stream comes later.
 *
 * Usually the next leaf belongs to the next event (`compare`). Otherwise the event's leaf comes later, and the leaves before it are passed
 * (`jumpTo`); or its leaf was passed before, so the event is out of order (`late`); or the event has no leaf (`inserted`).
 */
export const newComparison = ({ leaves, covered, findLeaves, report }: ComparisonOptions) => {
  const missing = newMissingCounts()
  const checkRevision = newRevisionCheck(report)
  /** Leaves ahead whose events came too early: they will be passed. */
  const early = new Set<number>()
  /** The leaf of the last event, if leaves before it were passed then, with the index of the first of these. */
  let jump: { readonly leaf: StoredLeaf; readonly from: number } | undefined
  /** Streams in which the count of missing events may be wrong: they are checked at the end. */
  const doubtful = new Set<string>()
  /** Appends that are incomplete in the log: each is reported once. */
  const torn = new Set<string>()

  const passOne = (leaf: StoredLeaf) => {
    if (leaf.lost === undefined && !early.delete(leaf.index)) missing.add(leaf)
    leaves.pass()
  }

  /** Compares an event with its leaf. */
  const check = (event: HashedEvent, leaf: StoredLeaf) => {
    reportDifferences(event, leaf, report)
    missing.explainBy(event, leaf)
  }

  /** An event whose leaf is further on. */
  const jumpTo = (event: HashedEvent, place: number) => {
    const from = leaves.peek()!.index
    while (leaves.place() < place) passOne(leaves.peek()!)
    const leaf = leaves.peek()!
    check(event, leaf)
    leaves.pass()
    jump = { leaf, from }
  }

  const reordered = (leaf: StoredLeaf, detail: string) => reportReordered(leaf, detail, report)

  /** An event whose leaf was passed. If only the event before had jumped ahead, that one was out of order. */
  const late = (event: HashedEvent, leaf: StoredLeaf, place: number | undefined) => {
    check(event, leaf)
    doubtful.add(leaf.stream)
    if (jump && place !== undefined && leaf.index >= jump.from) {
      reordered(jump.leaf, `it is before ${event.id} in the log, but after it in the tree`)
      for (let i = place; leaves.leafAt(i).index < jump.leaf.index; i++)
        if (leaves.leafAt(i).lost === undefined) missing.takeBack(leaves.leafAt(i))
      early.add(jump.leaf.index)
      leaves.goTo(place + 1)
    } else {
      if (missing.has(leaf.stream)) missing.takeBack(leaf)
      reordered(leaf, 'it is later in the log than in the tree')
    }
    jump = undefined
  }

  /** Passes leaves up to the one with this index. */
  const skipTo = async (event: HashedEvent, index: number) => {
    for (let leaf = await leaves.next(); leaf && leaf.index < index; leaf = await leaves.next()) passOne(leaf)
    jumpTo(event, leaves.place())
  }

  const inserted = (event: HashedEvent) => reportInserted(event, covered, report)

  /**
   * An event of an append that does not end. If it has a leaf, the append was complete once. If not, a crash may have interrupted the
   * append, but only if its beginning is there.
   */
  const compareBroken = async (event: HashedEvent) => {
    const { stream, revision, id, append = '' } = event
    const leaf = (await findLeaves(id)).findLast(({ lost }) => lost === undefined)
    if (leaf === undefined) return event.hasBeginning ? undefined : inserted(event)
    check(event, leaf)
    doubtful.add(stream)
    const next = await leaves.next()
    if (!next || leaf.index < next.index) missing.takeBack(leaf)
    else early.add(leaf.index)
    if (torn.has(append)) return
    torn.add(append)
    report({ kind: 'reordered', stream, revision, id, leaf: leaf.index, detail: 'its append is incomplete in the log' })
  }

  const search = async (event: HashedEvent) => {
    const place = leaves.placeOf(event.id)
    if (place !== undefined) {
      if (place >= leaves.place()) return jumpTo(event, place)
      return late(event, leaves.leafAt(place), place)
    }
    const leaf = (await findLeaves(event.id)).findLast(({ lost }) => lost === undefined)
    if (leaf === undefined) return (event.completedAt ?? 0n) > covered ? undefined : inserted(event)
    const next = await leaves.next()
    if (next && leaf.index >= next.index) return skipTo(event, leaf.index)
    late(event, leaf, undefined)
  }

  /** Compares the next event. Returns a promise only if the next leaf is of another event. */
  const compare = (event: HashedEvent): Promise<void> | void => {
    if (event.completedAt === undefined) return compareBroken(event)
    checkRevision(event)
    const leaf = leaves.peek()
    if (leaf?.id !== event.id || leaf.lost !== undefined || early.has(leaf.index)) return compareSlowly(event)
    check(event, leaf)
    leaves.pass()
    jump = undefined
  }

  const compareSlowly = async (event: HashedEvent): Promise<void> => {
    for (
      let leaf = await leaves.next();
      leaf && (leaf.lost !== undefined || early.has(leaf.index));
      leaf = await leaves.next()
    )
      passOne(leaf)
    const leaf = leaves.peek()
    if (leaf?.id !== event.id) return search(event)
    check(event, leaf)
    leaves.pass()
    jump = undefined
  }

  /** Passes the remaining leaves, and returns the streams of which events may be missing. */
  const finish = async (): Promise<string[]> => {
    for (let leaf = await leaves.next(); leaf; leaf = await leaves.next()) passOne(leaf)
    return [...new Set([...missing.streams(), ...doubtful])]
  }

  return { compare, finish }
}
