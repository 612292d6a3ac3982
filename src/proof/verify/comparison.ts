import type { Report } from './findings.ts'
import type { HashedEvent } from './hashed-event.ts'
import type { StoredLeaf } from './leaf-rows.ts'
import type { LeafWindow } from './leaf-window.ts'

export type ComparisonOptions = {
  readonly leaves: LeafWindow
  /** The position that the leaves cover: later appends need no leaf yet. */
  readonly covered: bigint
  /** All leaves of an event, also those not in memory. */
  readonly findLeaves: (id: string) => Promise<StoredLeaf[]>
  readonly report: Report
}

/** Leaves of a stream whose events did not come: how many, and the last one. */
type Missing = { count: number; last: number }

/** Whether an event may explain that those before it in its stream are gone. Streams of other kinds are never erased. */
export const explainsErasure = ({ type, stream }: Pick<HashedEvent, 'type' | 'stream'>): boolean =>
  type === 'TraceDeleted' && stream.startsWith('trace-')

/**
 * Compares the events of the log with the leaves, both in their order. Leaves whose events do not come are of erased streams, if
 * the stream's deletion comes later.
 */
export const newComparison = ({ leaves, covered, findLeaves, report }: ComparisonOptions) => {
  const missing = new Map<string, Missing>()
  /** Leaves ahead whose events came too early: they are passed over. */
  const early = new Set<number>()
  /** The leaf whose event came last if leaves before it were left out then, with the index of the first of them. */
  let jump: { readonly leaf: StoredLeaf; readonly from: number } | undefined
  /** Streams in which counting may have gone wrong: they are looked at in the end. */
  const doubtful = new Set<string>()

  const miss = ({ stream, index }: StoredLeaf, by: number) => {
    const known = missing.get(stream) ?? { count: 0, last: index }
    known.count += by
    known.last = Math.max(known.last, index)
    if (known.count > 0) missing.set(stream, known)
    else missing.delete(stream)
  }

  const passOne = (leaf: StoredLeaf) => {
    if (leaf.lost === undefined && !early.delete(leaf.index)) miss(leaf, 1)
    leaves.pass()
  }

  /** Compares an event with its leaf. */
  const check = (event: HashedEvent, leaf: StoredLeaf) => {
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
    if (explainsErasure(event) && (missing.get(stream)?.last ?? Infinity) < leaf.index) missing.delete(stream)
  }

  /** An event whose leaf is further on: the leaves before it are left out. */
  const jumpTo = (event: HashedEvent, place: number) => {
    const from = leaves.peek()!.index
    while (leaves.place() < place) passOne(leaves.peek()!)
    const leaf = leaves.peek()!
    check(event, leaf)
    leaves.pass()
    jump = { leaf, from }
  }

  const reordered = ({ stream, revision, id, index }: StoredLeaf, detail: string) =>
    report({ kind: 'reordered', stream, revision, id, leaf: index, detail })

  /** An event whose leaf has been passed. Where only the event before had jumped ahead, that one was out of order. */
  const late = (event: HashedEvent, leaf: StoredLeaf, place: number | undefined) => {
    check(event, leaf)
    doubtful.add(leaf.stream)
    if (jump && place !== undefined && leaf.index >= jump.from) {
      reordered(jump.leaf, `it lies in the log before ${event.id}, but behind it in the tree`)
      for (let i = place; leaves.leafAt(i).index < jump.leaf.index; i++)
        if (leaves.leafAt(i).lost === undefined) miss(leaves.leafAt(i), -1)
      early.add(jump.leaf.index)
      leaves.goTo(place + 1)
    } else {
      if (missing.has(leaf.stream)) miss(leaf, -1)
      reordered(leaf, 'it lies further back in the log than in the tree')
    }
    jump = undefined
  }

  /** Passes over leaves until that of this index comes. */
  const skipTo = async (event: HashedEvent, index: number) => {
    for (let leaf = await leaves.next(); leaf && leaf.index < index; leaf = await leaves.next()) passOne(leaf)
    jumpTo(event, leaves.place())
  }

  const inserted = ({ stream, revision, id, position }: HashedEvent) =>
    report({
      kind: 'inserted',
      stream,
      revision,
      id,
      detail: `it has no leaf, though all up to position ${covered} are covered (it is at ${position})`,
    })

  /** The last revision of each stream so far. No leaf covers revisions: who changes them in log and leaves alike changes no hash. */
  const revisions = new Map<string, bigint>()

  const checkRevision = ({ stream, revision, id }: HashedEvent) => {
    const before = revisions.get(stream)
    if (before !== undefined && revision <= before)
      report({ kind: 'reordered', stream, revision, id, detail: `it comes behind revision ${before} of its stream` })
    else revisions.set(stream, revision)
  }

  const torn = new Set<string>()

  /**
   * An event without the end of its append. With a leaf the append was whole once; without one a crash may have broken it off,
   * if its beginning is there.
   */
  const compareBroken = async (event: HashedEvent) => {
    const { stream, revision, id, append = '' } = event
    const leaf = (await findLeaves(id)).findLast(({ lost }) => lost === undefined)
    if (leaf === undefined) return event.hasBeginning ? undefined : inserted(event)
    check(event, leaf)
    doubtful.add(stream)
    const next = await leaves.next()
    if (!next || leaf.index < next.index) miss(leaf, -1)
    else early.add(leaf.index)
    if (torn.has(append)) return
    torn.add(append)
    report({ kind: 'reordered', stream, revision, id, leaf: leaf.index, detail: 'its append is not whole in the log' })
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

  /** Compares the next event. Gives a promise only where the next leaf is another one. */
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

  /** Passes over what is left of the leaves; gives the streams of which events may be missing. */
  const finish = async (): Promise<string[]> => {
    for (let leaf = await leaves.next(); leaf; leaf = await leaves.next()) passOne(leaf)
    return [...new Set([...missing.keys(), ...doubtful])]
  }

  return { compare, finish }
}
