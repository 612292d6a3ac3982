import { setTimeout } from 'node:timers/promises'
import { EventStoreDBClient } from '@eventstore/db-client'
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { type Address, BadAddress } from './address.ts'
import { parseSent } from './read-response.ts'

const CLOSE_TIMEOUT_MS = 1_000

/** What the client keeps to itself, as far as it has to be kept in check. */
type Inner = {
  getGRPCClient(service: unknown, name: string): Promise<unknown>
  handleError(...failure: unknown[]): Promise<void>
  getChannel(): Promise<{ close(): void }>
}

export type Connection = {
  client(): EventStoreDBClient
  /** Gives up the connection over which something failed: the next call goes over a new one. */
  renew(failed: EventStoreDBClient): void
  /** Says that a call has failed over it, though the client itself goes on. */
  fault(): void
  /** How often calls have failed over it: behind each fault there may be another server. */
  faults(): number
  close(): Promise<void>
}

const { path, requestSerialize } = streams.StreamsService.read

/** Reads give what `parseSent` makes of an answer; all readers of these connections expect that. */
class LeanStreams extends streams.StreamsClient {
  override read(request: never, ...[metadata, options]: unknown[]): never {
    return this.makeServerStreamRequest(
      path,
      requestSerialize,
      parseSent,
      request,
      metadata as never,
      options as never,
    ) as never
  }
}

let number = 0

const newClient = ({ clientUrl }: Address): EventStoreDBClient => {
  // Clients with the same settings would share a socket and its 100 streams.
  const url = clientUrl(number++)
  const client = EventStoreDBClient.connectionString(url)
  // It is called without being awaited, and fails when a discovery under way does: that would end the process.
  const inner = client as unknown as Inner
  const handle = inner.handleError
  inner.handleError = (...failure) => handle(...failure).catch(() => {})
  const grpcClient = inner.getGRPCClient
  inner.getGRPCClient = (service, name) => grpcClient(service === streams.StreamsClient ? LeanStreams : service, name)
  return client
}

/** Calls that run go on; the socket ends with the last of them. */
const closeChannel = async (client: EventStoreDBClient) => {
  const channel = await (client as unknown as Inner).getChannel().catch(() => undefined)
  channel?.close()
}

/**
 * One client at a time, on a socket of its own. The client makes a new channel by itself when a call says that the
 * server is away, but not after a deadline: a connection that is dead without a word would be kept for 20 seconds.
 * @throws BadAddress
 */
export const newConnection = (address: Address): Connection => {
  const create = () => {
    try {
      return newClient(address)
    } catch (error) {
      const reason = error instanceof Error && error.name !== 'Error' ? '' : 'a certificate file is missing or '
      throw new BadAddress(`${reason}the client cannot parse it`)
    }
  }
  let current = create()
  let closed = false
  let faults = 0

  const fault = () => {
    faults += 1
  }

  const renew = (failed: EventStoreDBClient) => {
    if (failed !== current || closed) return
    fault()
    current = newClient(address)
    void closeChannel(failed)
  }

  const close = async () => {
    closed = true
    const end = current.dispose().then(() => closeChannel(current))
    await Promise.race([end, setTimeout(CLOSE_TIMEOUT_MS, undefined, { ref: false })])
  }

  return { client: () => current, renew, fault, faults: () => faults, close }
}
