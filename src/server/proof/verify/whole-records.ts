import { type RawRecord, partsOf } from './append-rows.ts'
import { type HashedEvent, sinceIn } from './hashed-event.ts'
import { type Hashing, sliceOf } from '../hashing.ts'

const CHUNK = 'Chunk'

/** The index of a record in its append, and of a chunk in its event. */
type Mark = { readonly append: string; readonly index: number; readonly size: number; readonly chunk?: ChunkMark }
type ChunkMark = {
  readonly index: number
  readonly size: number
  readonly event?: { readonly id: string; readonly type: string; readonly metadata: string }
}

/** The usual end of metadata. Other metadata are parsed. */
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
    return alone(id) // no appended event has such metadata, so the hash differs from the leaf
  }
}

type Give = (event: HashedEvent) => void
/** An event that is incomplete: its hash and other fields are filled in later. */
type Found = { -readonly [Key in keyof HashedEvent]: HashedEvent[Key] }

const PENDING = Buffer.alloc(0)

/** An append of a stream whose end has not come yet. */
type OpenAppend = {
  readonly append: string
  readonly hasBeginning: boolean
  next: bigint
  readonly events: Found[]
  slices: string[]
}

/**
 * Puts records together as `../../../eventstore/log/whole-appends.ts` does, but keeps only the hash of each event. Gives the events of an append when
 * its last record comes. If that is missing, by a crash or by tampering, they are given when another append of the stream
 * begins, or by `flush`. Hashes may come later (`../hashing.ts`).
 */
export const newRecordCollector = (hash: Hashing['add']) => {
  const open = new Map<string, OpenAppend>()

  const giveBroken = ({ append, hasBeginning, events }: OpenAppend, give: Give) => {
    for (const event of events) give(Object.assign(event, { hasBeginning, append }))
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

  /** An event, whose texts are sent to be hashed; undefined for a chunk that is not the last one. */
  const eventOf = (record: RawRecord, into: OpenAppend, { chunk }: Mark): Found | undefined => {
    const { id, stream, revision, position, type, data } = record
    const place = { stream, revision, position, completedAt: undefined }
    if (!chunk) {
      const text = () => data.bytes.toString('latin1', data.from, data.to)
      const event = { id, type, ...place, hash: PENDING, ...sinceIn(type, text) }
      hash(partsOf(record), event)
      return event
    }
    if (chunk.index === 0) into.slices = []
    into.slices.push(JSON.parse(data.bytes.toString('utf8', data.from, data.to)) as string)
    if (!chunk.event || into.slices.length !== chunk.size) return undefined
    const whole = chunk.event
    const text = () => into.slices.join('')
    const event = { id: whole.id, type: whole.type, ...place, hash: PENDING, ...sinceIn(whole.type, text) }
    hash([whole.id, stream, whole.type, whole.metadata, into.slices.join('')].map(sliceOf), event)
    return event
  }

  const endsAppend = ({ index, size, chunk }: Mark) => index === size - 1 && (!chunk || chunk.event !== undefined)

  const add = (record: RawRecord, give: Give): void => {
    const { id, stream, type, revision, position, metadata } = record
    const mark = markOf(type, metadata, id)
    const into = openAppend(stream, revision, mark, give)
    into.next = revision + 1n
    const event = eventOf(record, into, mark)
    if (event) into.events.push(event)
    if (!endsAppend(mark)) return
    for (const whole of into.events) give(Object.assign(whole, { completedAt: position }))
    open.delete(stream)
  }

  const flush = (): HashedEvent[] => {
    const events: HashedEvent[] = []
    for (const broken of open.values()) giveBroken(broken, (event) => void events.push(event))
    open.clear()
    return events
  }

  return { add, flush }
}
