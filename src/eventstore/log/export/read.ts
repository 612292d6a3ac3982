import { type Hash, createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { RecordedEvent } from '../log.ts'
import { metadataOf } from '../metadata.ts'
import { type Header, type Line, type Trailer, parseLine } from './format.ts'

/** The file is not an export, or was changed. The message names the line. */
export class BadExport extends Error {
  override readonly name = 'BadExport'
}

const NEWLINE = 0x0a

/** The whole lines of a file without their ends, and where each ends. `onRest` gets the number of bytes after the last one. */
async function* wholeLines(
  path: string,
  onRest: (bytes: number) => void,
): AsyncGenerator<{ readonly bytes: Buffer; readonly end: number }> {
  let pieces: Buffer[] = []
  let end = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    let from = 0
    for (let index = chunk.indexOf(NEWLINE); index >= 0; index = chunk.indexOf(NEWLINE, from)) {
      const bytes = Buffer.concat([...pieces, chunk.subarray(from, index)])
      pieces = []
      from = index + 1
      end += bytes.length + 1
      yield { bytes, end }
    }
    if (from < chunk.length) pieces.push(Buffer.from(chunk.subarray(from)))
  }
  onRest(pieces.reduce((sum, { length }) => sum + length, 0))
}

type LastOfStream = { readonly revision: bigint }

/**
 * Checks that events follow each other as in a log: appends are whole and in the order of their last events, positions and revisions
 * grow. The segments of an append may be among other appends.
 */
const newOrderCheck = (fail: (what: string) => never) => {
  const streams = new Map<string, LastOfStream>()
  let last: RecordedEvent | undefined
  let closedPosition = -1n

  const closes = (event: RecordedEvent) => {
    const { index, size } = metadataOf(event).append
    return index >= size - 1
  }

  /** An append without its first events, which were erased, must be the first of its stream. */
  const checkAppend = (event: RecordedEvent) => {
    const { id, index } = metadataOf(event).append
    if (last && !closes(last)) {
      const open = metadataOf(last).append
      if (event.stream !== last.stream || id !== open.id || index !== open.index + 1)
        fail('the append before it is incomplete')
    } else if (index > 0 && streams.has(event.stream)) fail('the first events of its append are missing')
  }

  const next = (event: RecordedEvent) => {
    try {
      JSON.parse(event.metadata)
      JSON.parse(event.data)
    } catch {
      fail('its metadata or data is not JSON')
    }
    const isWithin = last !== undefined && !closes(last)
    if ((isWithin && event.position <= last!.position) || (closes(event) && event.position <= closedPosition))
      fail('its position is not greater than that of the event before')
    const before = streams.get(event.stream)
    if (before && event.revision <= before.revision)
      fail('its revision is not greater than the one before in its stream')
    checkAppend(event)
    streams.set(event.stream, { revision: event.revision })
    if (closes(event)) closedPosition = event.position
    last = event
  }

  return { next, isWhole: () => !last || closes(last), last: () => last, has: (stream: string) => streams.has(stream) }
}

export type ExportReader = {
  /** The events of the file in its order. To be read once. @throws BadExport if a line is wrong */
  readonly events: AsyncGenerator<RecordedEvent>
  /** Header, trailer and number of events that were read so far. */
  readonly header: () => Header | undefined
  readonly trailer: () => Trailer | undefined
  readonly count: () => number
  /** How many bytes there are after the last whole line, once all is read. */
  readonly rest: () => number
  readonly last: () => RecordedEvent | undefined
  readonly hasStream: (stream: string) => boolean
  /** The whole lines before the trailer: their number of bytes, and their hash, which can be continued. */
  readonly body: () => { readonly hash: Hash; readonly bytes: number }
}

/** Reads a file and checks its lines. Takes memory for one line and for the names of streams. */
export const readExport = (path: string): ExportReader => {
  const hash = createHash('sha256')
  let lineNumber = 0
  let count = 0 // of events
  let bytes = 0 // of the lines before the trailer
  let rest = 0 // bytes after the last whole line
  let header: Header | undefined
  let trailer: Trailer | undefined
  const fail = (what: string): never => {
    throw new BadExport(`line ${lineNumber}: ${what}`)
  }
  const order = newOrderCheck(fail)

  const checkTrailer = (found: Trailer) => {
    if (found.events !== count) fail(`the trailer says ${found.events} events, but the file has ${count}`)
    if (found.sha256 !== hash.copy().digest('hex'))
      fail('the SHA-256 in the trailer differs from that of the lines before')
    if (!order.isWhole()) fail('the last append is incomplete')
    trailer = found
  }

  const take = (line: Line): RecordedEvent | undefined => {
    if (trailer) fail('the trailer is not the last line')
    if ((line.is === 'header') !== (lineNumber === 1)) fail('the header is not the first line')
    if (line.is === 'header') header = line.header
    else if (line.is === 'trailer') checkTrailer(line.trailer)
    else {
      order.next(line.event)
      count += 1
      return line.event
    }
    return undefined
  }

  async function* events() {
    for await (const { bytes: text, end } of wholeLines(path, (found) => (rest = found))) {
      lineNumber += 1
      const line = parseLine(text.toString())
      if (typeof line === 'string') throw new BadExport(`line ${lineNumber}: ${line}`)
      const event = take(line)
      if (line.is !== 'trailer') {
        hash.update(text).update('\n')
        bytes = end
      }
      if (event) yield event
    }
    if (!header) throw new BadExport('the file has no header: it is not an exported log')
  }

  return {
    events: events(),
    header: () => header,
    trailer: () => trailer,
    count: () => count,
    rest: () => rest,
    last: order.last,
    hasStream: order.has,
    body: () => ({ hash: hash.copy(), bytes }),
  }
}

export type CheckedExport = {
  readonly header: Header
  readonly trailer: Trailer
  readonly last: RecordedEvent | undefined
}

/**
 * Reads and checks a whole file. `onEvent` is called for each event, and refuses the file by throwing.
 * @throws BadExport if it was changed, or has no trailer because its export was interrupted
 */
export const checkExport = async (
  path: string,
  onEvent: (event: RecordedEvent) => void = () => {},
): Promise<CheckedExport> => {
  const file = readExport(path)
  for await (const event of file.events) {
    try {
      onEvent(event)
    } catch (error) {
      throw new BadExport(`line ${file.count() + 1}: ${(error as Error).message}`)
    }
  }
  const [header, trailer] = [file.header(), file.trailer()]
  if (!header || !trailer)
    throw new BadExport('the file has no trailer: its export was interrupted. Continue it with --resume')
  if (file.rest() > 0) throw new BadExport('there is text after the trailer')
  return { header, trailer, last: file.last() }
}
