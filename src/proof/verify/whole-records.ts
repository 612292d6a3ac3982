import { type BinaryRow, int8At, rawTextAt, textAt, uuidAt } from './binary-rows.ts'
import type { HashedEvent } from './hashed-event.ts'
import { rawLeafHash, rawText } from './raw-hash.ts'

/** The columns that `newRecordCollector` reads, in their order. */
export const recordColumns = 'position, revision, id, stream, type, metadata, data'

const CHUNK = 'Chunk'

/** The place of a record in its append, and of a chunk in its event. */
type Mark = { readonly append: string; readonly index: number; readonly size: number; readonly chunk?: ChunkMark }
type ChunkMark = {
  readonly index: number
  readonly size: number
  readonly event?: { readonly id: string; readonly type: string; readonly metadata: string }
}

/** The end of metadata as they are written nearly always; others are parsed. */
const USUAL = /"append":\{"id":"([0-9a-f-]{36})","index":(\d+),"size":(\d+)\}\}$/

const alone = (id: string): Mark => ({ append: id, index: 0, size: 1 })

const parseMark = (metadata: string, id: string): Mark => {
  const { append, chunk } = JSON.parse(metadata) as { append?: Partial<Mark & { id: string }>; chunk?: ChunkMark }
  const { id: name, index, size } = append ?? {}
  if (typeof name !== 'string' || typeof index !== 'number' || typeof size !== 'number') return alone(id)
  return { append: name, index, size, ...(chunk ? { chunk } : {}) }
}

const markOf = (type: string, metadata: string, id: string): Mark => {
  const usual = type === CHUNK ? null : USUAL.exec(metadata)
  if (usual) return { append: usual[1]!, index: Number(usual[2]), size: Number(usual[3]) }
  try {
    return parseMark(metadata, id)
  } catch {
    return alone(id) // no event that was appended has such metadata: the hash will say so
  }
}

type Give = (event: HashedEvent) => void
type Found = Omit<HashedEvent, 'completedAt'>
type Head = Pick<HashedEvent, 'id' | 'stream' | 'type' | 'revision'>

/** An append of a stream whose end has not come yet. */
type OpenAppend = {
  readonly append: string
  readonly hasBeginning: boolean
  next: bigint
  readonly events: Found[]
  slices: string[]
}

/**
 * Puts the records of the log together as `../../log/whole-appends.ts` does, of each event only its hash: gives the events
 * of an append when its last record comes. Events of an append whose last record does not come, because of a crash or of
 * tampering, are given when another append of the stream begins, and by `flush`.
 */
export const newRecordCollector = () => {
  const open = new Map<string, OpenAppend>()

  const giveBroken = ({ append, hasBeginning, events }: OpenAppend, give: Give) => {
    for (const event of events) give({ ...event, completedAt: undefined, hasBeginning, append })
  }

  const openAppend = (stream: string, revision: bigint, mark: Mark, give: Give): OpenAppend => {
    const { append, index, chunk } = mark
    const known = open.get(stream)
    const opens = index === 0 && (chunk?.index ?? 0) === 0
    if (known && known.append === append && known.next === revision && !opens) return known
    if (known) giveBroken(known, give)
    const fresh = { append, hasBeginning: opens, next: revision, events: [], slices: [] }
    open.set(stream, fresh)
    return fresh
  }

  const eventOf = (row: BinaryRow, into: OpenAppend, head: Head, { chunk }: Mark): Found | undefined => {
    const { id, stream, type, revision } = head
    const place = { stream, revision, position: int8At(row, 0) }
    const hashOf = (metadata: string, data: string, of = head) =>
      rawLeafHash(of.id, rawText(stream), rawText(of.type), metadata, data)
    if (!chunk) return { id, type, ...place, hash: hashOf(rawTextAt(row, 5), rawTextAt(row, 6)) }
    if (chunk.index === 0) into.slices = []
    into.slices.push(JSON.parse(textAt(row, 6)) as string)
    const { event, size } = chunk
    if (!event || into.slices.length !== size) return undefined
    const hash = hashOf(rawText(event.metadata), rawText(into.slices.join('')), { ...head, ...event })
    return { id: event.id, type: event.type, ...place, hash }
  }

  const endsAppend = ({ index, size, chunk }: Mark) => index === size - 1 && (!chunk || chunk.event !== undefined)

  const add = (row: BinaryRow, give: Give): void => {
    const head = { id: uuidAt(row, 2), stream: textAt(row, 3), type: textAt(row, 4), revision: int8At(row, 1) }
    const mark = markOf(head.type, textAt(row, 5), head.id)
    const into = openAppend(head.stream, head.revision, mark, give)
    into.next = head.revision + 1n
    const event = eventOf(row, into, head, mark)
    if (event) into.events.push(event)
    if (!endsAppend(mark)) return
    const completedAt = int8At(row, 0)
    for (const whole of into.events) give({ ...whole, completedAt })
    open.delete(head.stream)
  }

  const flush = (): HashedEvent[] => {
    const events: HashedEvent[] = []
    for (const broken of open.values()) giveBroken(broken, (event) => void events.push(event))
    open.clear()
    return events
  }

  return { add, flush }
}
