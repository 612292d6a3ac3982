import type { CallOptions, Metadata } from '@grpc/grpc-js'
import { type EventStoreDBClient, convertToCommandError } from '@eventstore/db-client'
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { AppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { ifLate } from '../../../base/waits.ts'
import type { ExpectedRevision, Revision } from '../log.ts'
import type { Address } from './address.ts'
import { type ProposedEvent, appendOptions } from './append-request.ts'
import type { LeanStreams } from './lean-streams.ts'

/** Private methods of the client: the public one encodes the events itself. */
type Inner = {
  getChannel(): Promise<unknown>
  execute<T>(service: unknown, name: string, work: (streams: LeanStreams) => Promise<T>): Promise<T>
  callArguments(options: object): [metadata: Metadata, options: Partial<CallOptions>]
}

type AppendAnswer =
  | {
      readonly is: 'stored'
      /** The position of the last event. */
      readonly revision: Revision
      /** Undefined if an earlier attempt stored the events, and they have been truncated since. */
      readonly position: bigint | undefined
    }
  | { readonly is: 'conflict'; readonly actual: ExpectedRevision }

type AppendCall = {
  /** The full name, with the prefix. */
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly ProposedEvent[]
  readonly credentials: Address['credentials']
  /** By `performance.now()`: the server does not store the events later. */
  readonly until: number
}

/** There was no connection in time. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected'
}

/** @throws NotConnected if there is no channel in time: the client may be looking for the leader, without a limit of ours */
const untilConnected = async (inner: Inner, until: number): Promise<void> => {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const channel = inner.getChannel()
  channel.catch(() => {})
  await ifLate(until - performance.now(), () => reject(new NotConnected()), Promise.race([channel, late]))
}

const answerOf = (response: AppendResp): AppendAnswer => {
  const conflict = response.getWrongExpectedVersion()
  if (conflict)
    return { is: 'conflict', actual: conflict.hasCurrentRevision() ? BigInt(conflict.getCurrentRevision()) : 'none' }
  const success = response.getSuccess()!
  const position = success.getPosition()
  return {
    is: 'stored',
    revision: BigInt(success.getCurrentRevision()),
    position: position && BigInt(position.getCommitPosition()),
  }
}

/** Sends an append to the leader, on the client's path with one append per call. @throws NotConnected, or errors of the client */
export const callAppend = async (client: EventStoreDBClient, call: AppendCall): Promise<AppendAnswer> => {
  const { stream, expected, events, credentials, until } = call
  const inner = client as unknown as Inner
  await untilConnected(inner, until)
  const deadline = Math.max(1, Math.ceil(until - performance.now()))
  return inner.execute(
    streams.StreamsClient,
    'appendToStream',
    (streams) =>
      new Promise((resolve, reject) => {
        const [metadata, options] = inner.callArguments({ credentials, requiresLeader: true, deadline })
        const fail = (error: Error) => reject(convertToCommandError(error))
        const sink = streams.appendEncoded(metadata, options, (error, response) =>
          error ? fail(error) : resolve(answerOf(response!)),
        )
        sink.on('error', fail)
        sink.write(appendOptions(stream, expected))
        // Does not wait until the socket can take more: an append is small, and its buffers are in memory already.
        for (const event of events) sink.write(event)
        sink.end()
      }),
  )
}
