import codes from '@eventstore/db-client/generated/gossip_pb.js'
import operations from '@eventstore/db-client/generated/operations_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { ExpectedRevision, Outcome, Proposed, Record } from './store.ts'

const TICKS = 10_000

const uuid = (id: string) => new shared.UUID().setString(id)

const identifier = (name: string) => new shared.StreamIdentifier().setStreamName(Uint8Array.from(Buffer.from(name)))

export const nameOf = (stream: { getStreamName_asU8(): Uint8Array } | undefined): string =>
  Buffer.from(stream!.getStreamName_asU8()).toString()

export const eventResponse = (record: Record) => {
  const event = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(uuid(record.id))
    .setStreamIdentifier(identifier(record.stream))
    .setStreamRevision(`${record.revision}`)
    .setPreparePosition(`${record.position}`)
    .setCommitPosition(`${record.position}`)
    .setData(record.data)
    .setCustomMetadata(record.metadata)
  const isJson = record.contentType === 'application/json'
  event
    .getMetadataMap()
    .set('type', record.type)
    .set('content-type', isJson ? record.contentType : 'application/octet-stream')
    .set('created', `${record.created * TICKS}`)
  const read = new streams.ReadResp.ReadEvent().setEvent(event).setCommitPosition(`${record.position}`)
  return new streams.ReadResp().setEvent(read)
}

export const missingResponse = (stream: string) =>
  new streams.ReadResp().setStreamNotFound(
    new streams.ReadResp.StreamNotFound().setStreamIdentifier(identifier(stream)),
  )

export const confirmation = (id: string) =>
  new streams.ReadResp().setConfirmation(new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(id))

/** All before a position has been looked at: such a position has no place among the events of its transaction. */
export const checkpoint = (before: bigint) =>
  new streams.ReadResp().setCheckpoint(
    new streams.ReadResp.Checkpoint().setCommitPosition(`${before}`).setPreparePosition('0'),
  )

export const caughtUp = () => new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp())

type AppendOptions = NonNullable<ReturnType<InstanceType<typeof streams.AppendReq>['getOptions']>>
type Message = NonNullable<ReturnType<InstanceType<typeof streams.AppendReq>['getProposedMessage']>>

export const expectedOf = (options: AppendOptions): ExpectedRevision => {
  if (options.hasNoStream()) return 'no_stream'
  if (options.hasAny()) return 'any'
  return options.hasStreamExists() ? 'stream_exists' : BigInt(options.getRevision())
}

export const proposedOf = (message: Message): Proposed => ({
  id: message.getId()!.getString(),
  type: message.getMetadataMap().get('type') ?? '',
  contentType: message.getMetadataMap().get('content-type') ?? '',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
})

export const appendResponse = (outcome: Outcome, expected: ExpectedRevision) => {
  const response = new streams.AppendResp()
  if (outcome.is === 'stored') {
    const success = new streams.AppendResp.Success().setCurrentRevision(`${outcome.revision}`)
    const position = new streams.AppendResp.Position()
    if (outcome.position !== undefined)
      success.setPosition(position.setCommitPosition(`${outcome.position}`).setPreparePosition(`${outcome.position}`))
    return response.setSuccess(success)
  }
  const wrong = new streams.AppendResp.WrongExpectedVersion()
  if (typeof outcome.actual === 'bigint') wrong.setCurrentRevision(`${outcome.actual}`)
  else wrong.setCurrentNoStream(new shared.Empty())
  if (typeof expected === 'bigint') wrong.setExpectedRevision(`${expected}`)
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new shared.Empty())
  else if (expected === 'any') wrong.setExpectedAny(new shared.Empty())
  else wrong.setExpectedStreamExists(new shared.Empty())
  return response.setWrongExpectedVersion(wrong)
}

export const scavengeResponse = (id: string, isNew: boolean) => {
  const { STARTED, INPROGRESS } = operations.ScavengeResp.ScavengeResult
  return new operations.ScavengeResp().setScavengeId(id).setScavengeResult(isNew ? STARTED : INPROGRESS)
}

/** A node as the gossip shows it. */
export type Member = { readonly port: number; readonly isLeader: boolean; readonly isAlive: boolean }

export const gossipResponse = (members: readonly Member[]) => {
  const { LEADER, FOLLOWER } = codes.MemberInfo.VNodeState
  const memberOf = ({ port, isLeader, isAlive }: Member) =>
    new codes.MemberInfo()
      .setInstanceId(uuid(`00000000-0000-4000-8000-${`${port}`.padStart(12, '0')}`))
      .setTimeStamp(`${Date.now()}`)
      .setState(isLeader ? LEADER : FOLLOWER)
      .setIsAlive(isAlive)
      .setHttpEndPoint(new codes.EndPoint().setAddress('127.0.0.1').setPort(port))
  return new codes.ClusterInfo().setMembersList(members.map(memberOf))
}

/** Lists the batch path, as servers do: a client that is not told otherwise takes it. */
export const featuresResponse = () => {
  const method = (name: string) =>
    new features.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name)
  return new features.SupportedMethods()
    .setEventStoreServerVersion('23.10.6')
    .setMethodsList(['read', 'append', 'delete', 'tombstone', 'batchappend'].map(method))
}
