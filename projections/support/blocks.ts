import type { DecodedEvent } from '../../src/eventstore/engine/projection.ts'
import type { JoinedTexts } from '../../src/eventstore/postgres/arrays.ts'
import type { TraceEvent } from '../../src/server/trace/events.ts'
import { headOfPart, partHeadLine } from '../../src/server/trace/messages/heads.ts'
import { partTextBytes, partTexts } from '../../src/server/trace/messages/part.ts'
import { inBlock } from '../../src/tables/main.ts'

/** A row of `message_blocks`, to which messages are still added. All of them are of one append and have the same time. */
export type Block = {
  readonly traceId: string
  readonly appendId: string
  readonly at: number
  readonly revision: bigint
  /** Of restated messages only: others are of the trace's present incarnation. */
  readonly incarnation: bigint | undefined
  readonly first: number
  readonly body: JoinedTexts & { readonly texts: string[]; bytes: number }
}

/** Where a message's parts are in their block, in bytes: see `messagesTable`. */
export type PlaceInBlock = {
  readonly block: Block
  readonly headsAt: number
  readonly partsAt: number
  readonly partsEnd: number
}

export type RestatedEvent = DecodedEvent<Extract<TraceEvent, { type: 'MessageRestated' }>>
export type AddedEvent = DecodedEvent<Extract<TraceEvent, { type: 'MessageAdded' }>>

/** The maximum size of a block, unless it has a single message. */
const MOST_BYTES = 32 * 1024

/** The heads of a message's parts and then the parts, as texts that a block holds one behind the other, and the size of both in bytes. */
const textsOf = ({ data: { parts } }: AddedEvent | RestatedEvent) => {
  const texts = ['']
  let [heads, end] = ['', 0]
  for (const [i, part] of parts.entries()) {
    const comma = i === 0 ? '' : ','
    end += partTextBytes(part.json, i) + comma.length
    const head = `${String(end).padStart(inBlock.end)} ${partHeadLine(headOfPart(part))}`
    if (head.length >= inBlock.head)
      throw new Error(`The head of a part has ${head.length} characters, but a block has room for ${inBlock.head - 1}`)
    heads += comma + head.padEnd(inBlock.head - 1)
    const [open, rest] = partTexts(part.json, i)
    texts.push(comma + open, rest) // not joined: they are copied into a buffer
  }
  texts[0] = heads
  return { texts, headBytes: heads.length, textBytes: end }
}

/**
 * The new blocks of a batch, in order. A block ends with its append, before a message with another time, or before it would be too
 * large. So the same appends make the same blocks, in any batches.
 */
export const newBlocks = () => {
  let blocks: Block[] = []

  const blockFor = (event: AddedEvent | RestatedEvent, bytes: number): Block => {
    const { streamId: traceId, appendId, at, revision, data } = event
    const last = blocks.at(-1)
    if (
      last?.traceId === traceId &&
      last.appendId === appendId &&
      last.at === at &&
      last.body.bytes + bytes <= MOST_BYTES
    )
      return last
    const incarnation = event.type === 'MessageRestated' ? BigInt(event.data.since) : undefined
    const block = { traceId, appendId, at, revision, incarnation, first: data.ordinal, body: { texts: [], bytes: 0 } }
    blocks.push(block)
    return block
  }

  return {
    /** Adds the parts of a message, and returns their place. */
    add: (event: AddedEvent | RestatedEvent): PlaceInBlock => {
      const { texts, headBytes, textBytes } = textsOf(event)
      const block = blockFor(event, headBytes + textBytes)
      const { body } = block
      const headsAt = body.bytes
      const partsAt = headsAt + headBytes
      body.bytes = partsAt + textBytes
      for (const text of texts) body.texts.push(text)
      return { block, headsAt, partsAt, partsEnd: body.bytes }
    },
    removeAll: (ofTrace: string): void => void (blocks = blocks.filter(({ traceId }) => traceId !== ofTrace)),
    all: (): readonly Block[] => blocks,
  }
}

export type NewBlocks = ReturnType<typeof newBlocks>
