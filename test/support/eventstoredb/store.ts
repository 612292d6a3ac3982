import { randomUUID } from 'node:crypto'

export type Proposed = {
  readonly id: string
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}

export type Record = Proposed & {
  readonly position: bigint
  readonly stream: string
  readonly revision: bigint
  readonly created: number
}

export type ExpectedRevision = bigint | 'any' | 'no_stream' | 'stream_exists'

export type Outcome =
  | {
      readonly is: 'stored'
      readonly revision: bigint
      readonly position: bigint | undefined
      readonly fresh: Record[]
    }
  | { readonly is: 'conflict'; readonly actual: bigint | 'no_stream' }

const FIRST_POSITION = 1_000n
const CHUNK = 268_435_456n

/** The log of a server, in memory, with the rules that a real one was seen to follow. */
export const newStore = () => {
  let records: Record[] = []
  /** All that a stream ever held, by revision: the index, which outlives a scavenge. */
  const streams = new Map<string, Record[]>()
  /** Ids of recent appends, for retries with ANY; lost with the process. */
  let recent = new Map<string, bigint>()
  let end = FIRST_POSITION
  let scavengedBelow = 0n

  const headOf = (stream: string) => BigInt((streams.get(stream)?.length ?? 0) - 1)

  const truncatedBelow = (stream: string): bigint => {
    const last = streams.get(`$$${stream}`)?.at(-1)
    const before = last && (JSON.parse(Buffer.from(last.data).toString()) as { $tb?: number }).$tb
    return typeof before === 'number' ? BigInt(before) : 0n
  }

  const isVisible = ({ stream, revision }: Record) => revision >= truncatedBelow(stream)

  const sizeOf = ({ stream, type, data, metadata }: Record) =>
    BigInt(93 + 2 * stream.length + type.length + data.length + metadata.length)

  const write = (stream: string, events: readonly Proposed[], created: number): Record[] => {
    const held = streams.get(stream) ?? []
    if (events.length > 0) streams.set(stream, held)
    return events.map((event) => {
      const record = { ...event, stream, revision: BigInt(held.length), position: end, created }
      end += sizeOf(record)
      held.push(record)
      records.push(record)
      recent.set(`${event.id} ${stream}`, record.revision)
      return record
    })
  }

  /** Takes what another node has written, where that has it. */
  const replicate = (written: readonly Record[]) => {
    for (const record of written) {
      streams.set(record.stream, [...(streams.get(record.stream) ?? []), record])
      records.push(record)
      end = record.position + sizeOf(record)
    }
  }

  /** What a retry is answered with: the place of its last event, without a position once that is truncated. */
  const again = (stream: string, revision: bigint): Outcome => {
    const record = streams.get(stream)![Number(revision)]!
    return { is: 'stored', revision, position: isVisible(record) ? record.position : undefined, fresh: [] }
  }

  const stored = (stream: string, events: readonly Proposed[], created: number): Outcome => {
    const fresh = write(stream, events, created)
    const position = fresh.at(-1)?.position ?? end++
    return { is: 'stored', revision: events.length === 0 ? headOf(stream) : fresh.at(-1)!.revision, position, fresh }
  }

  const append = (
    stream: string,
    expected: ExpectedRevision,
    events: readonly Proposed[],
    created: number,
  ): Outcome => {
    const head = headOf(stream)
    const conflict: Outcome = { is: 'conflict', actual: head < 0n ? 'no_stream' : head }
    if (expected === 'any' || expected === 'stream_exists') {
      if (expected === 'stream_exists' && head < 0n) return conflict
      const places = events.map(({ id }) => recent.get(`${id} ${stream}`))
      if (places.length === 0 || places[0] === undefined) return stored(stream, events, created)
      return places.includes(undefined) ? conflict : again(stream, places.at(-1)!)
    }
    const at = expected === 'no_stream' ? -1n : expected
    if (at === head) return stored(stream, events, created)
    if (at > head || events.length === 0) return conflict
    const isSame = events.every(({ id }, i) => streams.get(stream)![Number(at) + 1 + i]?.id === id)
    return isSame ? again(stream, at + BigInt(events.length)) : conflict
  }

  const system = (stream: string, type: string, value: object) =>
    write(
      stream,
      [{ id: randomUUID(), type, contentType: 'application/json', data: json(value), metadata: json({}) }],
      0,
    )

  /** Events of other applications, many to a stream; they share their bytes, so that there can be very many. */
  const writeForeign = (count: number, bytes = 300) => {
    const event = { type: 'Other', contentType: 'application/octet-stream', metadata: new Uint8Array(0) }
    const data = new Uint8Array(bytes)
    for (let i = 0; i < count; i++) write(`other-${i % 500}`, [{ id: randomUUID(), ...event, data }], 0)
    recent = new Map()
  }

  /** Takes truncated events out of the log, but the last of each stream; the next append begins a chunk. */
  const scavenge = () => {
    const id = randomUUID()
    system('$scavenges', '$scavengeStarted', { scavengeId: id })
    const before = end
    end = (end / CHUNK + 1n) * CHUNK + 389n
    scavengedBelow = end
    const isLast = ({ stream, revision }: Record) => revision === headOf(stream)
    records = records.filter(
      (record) => isLast(record) || (record.stream.startsWith('$$') ? isLast(record) : isVisible(record)),
    )
    system(`$scavenges-${id}`, '$scavengePoint', { before: `${before}` })
    system(`$scavenges-${id}`, '$scavengeCompleted', { result: 'Success' })
    return id
  }

  /** Forgets all but the first records, as an older copy of the server does: their positions are handed out again. */
  const keepFirst = (count: number) => {
    const lost = records.slice(count)
    if (lost.length === 0) return
    records = records.slice(0, count)
    end = lost[0]!.position
    for (const { stream, revision } of lost) {
      const kept = streams.get(stream)?.slice(0, Number(revision)) ?? []
      if (kept.length > 0) streams.set(stream, kept)
      else streams.delete(stream)
    }
    recent = new Map()
  }

  system('$$$scavenges', '$metadata', { $maxCount: 100 })
  system('$users', '$UserCreated', { loginName: 'admin' })

  /** The index of the first record at or behind a position. */
  const indexOf = (position: bigint): number => {
    let [low, high] = [0, records.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (records[middle]!.position < position) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    append,
    replicate,
    writeForeign,
    scavenge,
    keepFirst,
    indexOf,
    /** As after a restart of the process: all data is kept. */
    forgetRecent: () => void (recent = new Map()),
    all: (): readonly Record[] => records,
    stream: (name: string): readonly Record[] | undefined => streams.get(name)?.filter(isVisible),
    /** Whether a read of everything may begin there: at a record, or anywhere in a scavenged chunk. */
    isReadable: (position: bigint) =>
      position >= end || position < scavengedBelow || records[indexOf(position)]?.position === position,
  }
}

export type Store = ReturnType<typeof newStore>

const json = (value: object) => Buffer.from(JSON.stringify(value))
