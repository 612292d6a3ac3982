import type { ServerWritableStream } from '@grpc/grpc-js'
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { type Failure, unknown } from './faults.ts'
import { eventResponse, missingResponse, nameOf } from './messages.ts'
import type { Record, Store } from './store.ts'
import type { Visibility } from './visibility.ts'

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>
type Options = NonNullable<ReturnType<ReadReq['getOptions']>>

const OPENS = ['drain', 'cancelled', 'close']

const room = (call: ReadCall) =>
  new Promise<void>((resolve) => {
    const done = () => {
      for (const event of OPENS) call.off(event, done)
      resolve()
    }
    for (const event of OPENS) call.on(event, done)
  })

/** Writes as fast as the reader takes it; false once the reader has gone. */
export const send = async (call: ReadCall, response: ReadResp): Promise<boolean> => {
  if (call.cancelled) return false
  if (!call.write(response)) await room(call)
  return !call.cancelled
}

/** The error that ends a call. */
export const fail = (call: ReadCall, error: Failure): void => void call.emit('error', error)

const ofAll = (
  store: Store,
  visibility: Visibility,
  options: Options,
  count: number,
): readonly Record[] | undefined => {
  const all = options.getAll()!
  const records = visibility.ofAll(store.all())
  const position = BigInt(all.getPosition()?.getCommitPosition() ?? 0)
  if (all.hasPosition() && !store.isReadable(position)) return undefined
  const at = all.hasEnd() ? records.length : all.hasStart() ? 0 : store.indexOf(position)
  if (options.getReadDirection() === 0) return records.slice(at, at + count)
  return records.slice(Math.max(0, at - count), at).toReversed()
}

const ofStream = (records: readonly Record[], options: Options): readonly Record[] | undefined => {
  const stream = options.getStream()!
  const backwards = options.getReadDirection() === 1
  if (stream.hasEnd()) return backwards ? records.toReversed() : undefined
  const from = stream.hasStart() ? 0n : BigInt(stream.getRevision())
  if (from > 2n ** 63n - 1n) return undefined
  if (backwards) return records.filter(({ revision }) => revision <= from).toReversed()
  return records.filter(({ revision }) => revision >= from)
}

const sendAll = async (call: ReadCall, records: readonly Record[], sent: () => void) => {
  for (const record of records) {
    sent()
    if (!(await send(call, eventResponse(record)))) return
  }
  call.end()
}

/** A read that ends: forwards or backwards, of one stream or of all (sheet, 4). `sent` is called for each event that is sent. */
export const answerRead = async (
  call: ReadCall,
  store: Store,
  visibility: Visibility,
  sent: () => void,
): Promise<void> => {
  const options = call.request.getOptions()!
  const count = Number(options.getCount())
  if (options.hasAll()) {
    if (count === 0) return // never ends
    const records = ofAll(store, visibility, options, count)
    if (!records) return fail(call, unknown('Unexpected ReadAllResult: Error'))
    return sendAll(call, records, sent)
  }
  const name = nameOf(options.getStream()!.getStreamIdentifier())
  if (count === 0) return fail(call, unknown('Unexpected ReadStreamResult: Error'))
  const seen = visibility.ofStream(name, store.stream(name))
  if (!seen) {
    call.write(missingResponse(name))
    return void call.end()
  }
  const records = ofStream(seen, options)
  if (!records) return fail(call, unknown('Unexpected ReadStreamResult: Error'))
  return sendAll(call, records.slice(0, count), sent)
}
