import { setTimeout } from 'node:timers/promises'
import type { Channel, ChannelCredentials, ChannelOptions } from '@grpc/grpc-js'
import { EventStoreDBClient } from '@eventstore/db-client'
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { type Address, BadAddress } from './address.ts'
import { LeanStreams } from './lean-streams.ts'

const CLOSE_TIMEOUT_MS = 1_000
/** How much a server may send before it waits for an acknowledgement: as much as a page. The default is 64 KiB. */
const WINDOW_BYTES = 4 * 1024 * 1024

/** Private methods of the client that are called or replaced here. */
type Inner = {
  getGRPCClient(service: unknown, name: string): Promise<unknown>
  handleError(...failure: unknown[]): Promise<void>
  createChannel(): Promise<Channel>
  getChannel(): Promise<{ close(): void }>
}

/** Private parts of a channel. */
type InnerChannel = {
  readonly internalChannel: { readonly credentials: ChannelCredentials; readonly options: ChannelOptions }
}

export type Connection = {
  client(): EventStoreDBClient
  /** Replaces the connection, unless `failed` has been replaced already. The next call uses the new one. */
  renew(failed: EventStoreDBClient): void
  /** Counts a failed call; the connection stays. */
  noteFailure(): void
  /** How many calls have failed. After each failure another server may answer. */
  failures(): number
  close(): Promise<void>
}

/**
 * The same channel with a larger window, for which the client has no option. With the default one a page of 200 messages takes
 * five round trips, and a page of 4 MiB takes 64.
 */
const withLargeWindow = (channel: Channel): Channel => {
  const { credentials, options } = (channel as unknown as InnerChannel).internalChannel
  const target = channel.getTarget()
  channel.close() // it has not connected yet
  const SameChannel = channel.constructor as typeof Channel
  return new SameChannel(target, credentials, { ...options, 'grpc-node.flow_control_window': WINDOW_BYTES })
}

let number = 0

const newClient = ({ clientUrl }: Address): EventStoreDBClient => {
  // Clients with the same settings would share a socket and its 100 streams.
  const url = clientUrl(number++)
  const client = EventStoreDBClient.connectionString(url)
  // The client does not await `handleError`. A failed discovery would be an unhandled rejection, which ends the process.
  const inner = client as unknown as Inner
  const handle = inner.handleError
  inner.handleError = (...failure) => handle(...failure).catch(() => {})
  const grpcClient = inner.getGRPCClient
  inner.getGRPCClient = (service, name) => grpcClient(service === streams.StreamsClient ? LeanStreams : service, name)
  const createChannel = inner.createChannel
  inner.createChannel = async () => withLargeWindow(await createChannel())
  return client
}

/** Closes the channel: running calls finish, and the socket closes after the last of them. */
const closeChannel = async (client: EventStoreDBClient) => {
  const channel = await (client as unknown as Inner).getChannel().catch(() => undefined)
  channel?.close()
}

/**
 * Holds one client at a time, with its own socket. The client replaces its channel if a call fails because the server
 * is unavailable, but not after a deadline: without `renew` a dead connection would stay in use for 20 seconds.
 * @throws BadAddress
 */
export const newConnection = (address: Address): Connection => {
  const create = () => {
    try {
      return newClient(address)
    } catch (error) {
      const reason = error instanceof Error && error.name !== 'Error' ? '' : 'a certificate file is missing, or '
      throw new BadAddress(`${reason}the client cannot parse it: check its form, and the paths in it`)
    }
  }
  let current = create()
  let closed = false
  let failures = 0

  const noteFailure = () => {
    failures += 1
  }

  const renew = (failed: EventStoreDBClient) => {
    if (failed !== current || closed) return
    noteFailure()
    current = newClient(address)
    void closeChannel(failed)
  }

  const close = async () => {
    closed = true
    const end = current.dispose().then(() => closeChannel(current))
    await Promise.race([end, setTimeout(CLOSE_TIMEOUT_MS, undefined, { ref: false })])
  }

  return { client: () => current, renew, noteFailure, failures: () => failures, close }
}
