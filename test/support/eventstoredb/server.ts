import gossip from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import operations from '@eventstore/db-client/generated/operations_grpc_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js'
import {
  type Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'
import { type AppendCounts, answerAppend, newAppendCounts } from './appends.ts'
import { newCosts } from './costs.ts'
import { type Failure, type Faults, type Method, failure, newFaults } from './faults.ts'
import { type Member, featuresResponse, gossipResponse, scavengeResponse } from './messages.ts'
import { type ReadCall, answerRead, fail } from './reads.ts'
import { type Record, type Store, newStore } from './store.ts'
import { type Subscriptions, newSubscriptions } from './subscriptions.ts'
import { type Visibility, newVisibility } from './visibility.ts'

export type DoubleOptions = {
  /** Bytes of data in one append. Default: the server's own, 1 MiB. */
  readonly maxAppendSize?: number
  readonly credentials?: ServerCredentials
  /** What `user:password` must be. Only over TLS: without it the client sends none. */
  readonly password?: string
  /** Processor time, in microseconds, that each appended event costs besides what the double itself takes. Default 0. */
  readonly appendCostUs?: number
  /** How long an append is neither answered nor read, though conflicts name it at once. Default 0. */
  readonly readableAfterMs?: number
  /** Whether subscriptions hear that they have come to the end; older servers do not say so. Default true. */
  readonly saysCaughtUp?: boolean
  /** The server's clock. */
  readonly now?: () => number
}

export type Double = {
  readonly port: number
  /** `esdb://…`, without TLS. */
  readonly url: string
  readonly store: Store
  readonly faults: Faults
  readonly visibility: Visibility
  readonly appends: AppendCounts
  readonly subscriptions: Subscriptions
  readonly node: Node
  /** Reads that occupy a stream of their connection, subscriptions too. */
  openReads(): number
  /** How many events reads were sent, without those of subscriptions. */
  eventsRead(): number
  /** Breaks all connections, as a reset in the network. */
  reset(): Promise<void>
  /** Stops listening; data is kept, and what a server holds only in memory is forgotten. */
  stop(): Promise<void>
  /** Listens on the same port again. */
  start(): Promise<void>
}

/** The server as a node of a cluster: alone until it is told of others. */
export type Node = {
  /** What its gossip shows; undefined: itself alone, as the leader. */
  members: readonly Member[] | undefined
  /** Those that get what is appended here. */
  followers: readonly Double[]
  /** Whether a scavenge that was started runs on. */
  isScavenging: boolean
}

const MAX_MESSAGE = 16_767_216
const MAX_STREAMS = 100

const isAllowed = (metadata: Metadata, password: string | undefined) =>
  password === undefined || metadata.get('authorization')[0] === `Basic ${Buffer.from(password).toString('base64')}`

/** Calls of one kind: counted, failed on demand, refused without the right password. */
const newServices = (options: DoubleOptions, port: () => number, reset: () => void) => {
  const { maxAppendSize = 1_048_576, appendCostUs = 0, password, now = Date.now } = options
  const [store, faults, appends] = [newStore(), newFaults(), newAppendCounts()]
  const visibility = newVisibility(options.readableAfterMs)
  const subscriptions = newSubscriptions(store, visibility, options.saysCaughtUp)
  const denied = failure(status.UNAUTHENTICATED, 'Bad HTTP status code: 401', { exception: 'access-denied' })
  const enter = async (method: Method, metadata: Metadata): Promise<Failure | undefined> =>
    isAllowed(metadata, password) ? faults.enter(method, metadata) : denied

  const unary =
    <Request, Response>(method: Method, respond: () => Response) =>
    (call: ServerUnaryCall<Request, Response>, answer: sendUnaryData<Response>) =>
      void enter(method, call.metadata).then((failed) => (failed ? answer(failed) : answer(null, respond())))

  const reading = new Set<ReadCall>()
  let eventsRead = 0
  const read = async (call: ReadCall) => {
    reading.add(call)
    for (const end of ['cancelled', 'finish', 'error', 'close']) call.on(end, () => reading.delete(call))
    const isSubscription = call.request.getOptions()!.hasSubscription()
    const failed = await enter(isSubscription ? 'subscribe' : 'read', call.metadata)
    if (failed) return fail(call, failed)
    return isSubscription ? subscriptions.subscribe(call) : answerRead(call, store, visibility, () => (eventsRead += 1))
  }
  const node: Node = { members: undefined, followers: [], isScavenging: false }
  const stored = (records: readonly Record[]) => {
    subscriptions.publish(records)
    for (const follower of node.followers) {
      follower.store.replicate(records)
      follower.subscriptions.publish(records)
    }
  }
  const costs = newCosts()
  const spend = (events: number) => costs(events * appendCostUs)
  const setting = { store, faults: { ...faults, enter }, visibility, maxAppendSize, spend, now, stored, reset }
  const refuse = (call: { metadata: Metadata; emit(event: 'error', error: Failure): boolean }) =>
    void enter('batchAppend', call.metadata).then(() => call.emit('error', failure(status.UNIMPLEMENTED, 'refused')))

  const scavenge = () => {
    if (node.isScavenging) return scavengeResponse('running', false)
    const before = store.all().at(-1)!.position
    const id = store.scavenge()
    subscriptions.publish(store.all().filter(({ position }) => position > before))
    return scavengeResponse(id, true)
  }

  const gossiped = () => gossipResponse(node.members ?? [{ port: port(), isLeader: true, isAlive: true }])

  const add = (server: Server) => {
    server.addService(streams.StreamsService, {
      read: (call: ReadCall) => void read(call),
      append: (call: Parameters<typeof answerAppend>[0], answer: Parameters<typeof answerAppend>[1]) =>
        void answerAppend(call, answer, setting, appends).catch(() => {}), // cancelled while it was being received
      batchAppend: refuse,
    })
    server.addService(features.ServerFeaturesService, { getSupportedMethods: unary('features', featuresResponse) })
    server.addService(gossip.GossipService, { read: unary('gossip', gossiped) })
    server.addService(operations.OperationsService, { startScavenge: unary('scavenge', scavenge) })
  }
  const counts = { openReads: () => reading.size, eventsRead: () => eventsRead }
  return { store, faults, visibility, appends, subscriptions, node, ...counts, add }
}

/**
 * A server that behaves as a real EventStoreDB 23.10 was measured to, as far
 * as the adapter uses it, on the service definitions of the client's own package, with its data in memory.
 */
export const startDouble = async (options: DoubleOptions = {}): Promise<Double> => {
  const { credentials = ServerCredentials.createInsecure() } = options
  let port = 0
  let server: Server | undefined
  const services = newServices(
    options,
    () => port,
    () => void reset(),
  )

  const start = async () => {
    const fresh = new Server({
      'grpc.max_receive_message_length': MAX_MESSAGE,
      'grpc.max_concurrent_streams': MAX_STREAMS,
    })
    services.add(fresh)
    port = await new Promise<number>((resolve, reject) =>
      fresh.bindAsync(`127.0.0.1:${port}`, credentials, (error, bound) => (error ? reject(error) : resolve(bound))),
    )
    server = fresh
  }
  const halt = async () => {
    server?.forceShutdown()
    server = undefined
  }
  const reset = async () => {
    await halt()
    await start()
  }
  const stop = async () => {
    await halt()
    services.store.forgetRecent()
  }
  await start()
  return { ...services, port, url: `esdb://127.0.0.1:${port}?tls=false`, reset, stop, start }
}
