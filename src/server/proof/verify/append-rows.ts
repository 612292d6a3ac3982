import { decompressed } from '../../../eventstore/log/postgres/body.ts'
import { headsOf } from '../../../eventstore/log/postgres/rows.ts'
import { uuidText } from '../../../base/uuid.ts'
import { type BinaryRow, int4At, int8At, sliceAt, textAt } from './binary-rows.ts'
import { type Slice, sliceOf } from '../hashing.ts'

/** A stored record of the log. Texts that are only hashed are bytes, which are valid as long as the row. */
export type RawRecord = {
  readonly id: string
  readonly stream: string
  readonly revision: bigint
  readonly position: bigint
  readonly type: string
  readonly metadata: string
  readonly data: Slice
}

/** The columns that `recordsIn` reads, in their order. */
export const appendColumns = 'last, stream, revision, size, ids, heads, lengths, coalesce(bytes, 0), body'

const ARRAY_HEADER_BYTES = 20
const UUID_BYTES = 16
const INT4_BYTES = 4

/** The offsets of an array's elements, from the number of bytes of each. No element may be null. */
const elementsAt = (row: BinaryRow, i: number, bytes: number): number[] => {
  const { from, to } = sliceAt(row, i)
  const places: number[] = []
  for (let at = from + ARRAY_HEADER_BYTES; at < to; at += 4 + bytes) places.push(at + 4)
  return places
}

/** Stands for metadata that cannot be read. No appended event has such metadata, so the hash differs from the leaf. */
const UNREADABLE = 'the row contradicts itself in its number of events'

/** The data of all events of a row, which together have `size` bytes; empty if they are damaged. */
const dataIn = (row: BinaryRow, size: number): Slice => {
  const [stored, bytes] = [sliceAt(row, 8), int4At(row, 7)]
  if (bytes === 0) return stored
  if (bytes !== size) return sliceOf('')
  try {
    const whole = decompressed(stored.bytes.subarray(stored.from, stored.to), bytes, int8At(row, 0))
    return { bytes: whole, from: 0, to: bytes }
  } catch {
    return sliceOf('')
  }
}

/** The heads of the events, as the log's reader reads them. All are unreadable if the row contradicts itself. */
const soundHeads = (row: BinaryRow, isSound: boolean, count: number): ReturnType<typeof headsOf> => {
  const unreadable = () => Array.from({ length: count }, () => ({ type: '', metadata: UNREADABLE }))
  if (!isSound) return unreadable()
  try {
    const text = textAt(row, 5)
    const counted = (JSON.parse(text) as [number][]).reduce((sum, [count]) => sum + count, 0)
    return counted === count ? headsOf(text) : unreadable()
  } catch {
    return unreadable()
  }
}

/** The records of a row of the log, in their order. */
export const recordsIn = (row: BinaryRow): RawRecord[] => {
  const ids = elementsAt(row, 4, UUID_BYTES)
  const lengths = elementsAt(row, 6, INT4_BYTES).map((at) => row.bytes.readInt32BE(at))
  const [last, revision, stream] = [int8At(row, 0), int8At(row, 2), textAt(row, 1)]
  const size = lengths.reduce((sum, length) => sum + length, 0)
  const { bytes, from: start, to: end } = dataIn(row, size)
  const isSound = int4At(row, 3) === ids.length && lengths.length === ids.length && end - start === size
  const heads = soundHeads(row, isSound, ids.length)
  let to = start
  return ids.map((at, i) => {
    const fromLast = BigInt(ids.length - 1 - i)
    const from = Math.min(to, end)
    to = Math.min(end, to + Math.max(0, lengths[i] ?? 0))
    return {
      id: uuidText(row.bytes.subarray(at)),
      stream,
      revision: revision - fromLast,
      position: last - fromLast,
      ...heads[i]!,
      data: { bytes, from, to },
    }
  })
}

/** The texts of a record that are hashed, in their order. */
export const partsOf = ({ id, stream, type, metadata, data }: RawRecord): Slice[] => [
  sliceOf(id),
  sliceOf(stream),
  sliceOf(type),
  sliceOf(metadata),
  data,
]
