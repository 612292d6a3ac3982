import type { ServiceError } from '@grpc/grpc-js'
import gossip from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import operations from '@eventstore/db-client/generated/operations_grpc_pb.js'
import messages, { type ScavengeResp } from '@eventstore/db-client/generated/operations_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { convertToCommandError } from '@eventstore/db-client'
import { attemptMs } from '../../../base/waits.ts'
import { type Address, parseAddress } from './address.ts'
import { permanentError } from './errors.ts'
import { callNode } from './node-call.ts'

/** What became of the scavenge of one node (`host:port`). `running`: one that was started before, which does not remove what was erased since. */
export type NodeScavenge = { readonly node: string } & (
  { readonly is: 'started' | 'running'; readonly id: string } | { readonly is: 'failed'; readonly why: string }
)

/** The nodes of the cluster that one of them knows, dead ones too. */
const membersKnownTo = async (address: Address, node: string, deadline: number): Promise<string[]> => {
  const info = await callNode<InstanceType<typeof gossip.GossipClient>, ClusterInfo>(address, node, {
    service: gossip.GossipClient,
    call: (client, metadata, options, answer) => client.read(new shared.Empty(), metadata, options, answer),
    deadline,
  })
  return info.getMembersList().flatMap((member) => {
    const endPoint = member.getHttpEndPoint()
    return endPoint ? [`${endPoint.getAddress()}:${endPoint.getPort()}`] : []
  })
}

/** All nodes of the cluster, by what the hosts of the URL know. A host that says nothing counts as a node. */
const nodesOf = async (address: Address, deadline: number): Promise<string[]> => {
  const { hosts } = address
  const known = await Promise.all(hosts.map((host) => membersKnownTo(address, host, deadline).catch(() => [host])))
  const nodes = [...new Set(known.flat())].sort()
  // A node alone is known by the address that the URL has: it may advertise one that leads to it from its own network only.
  return nodes.length === 1 && hosts.length === 1 ? [...hosts] : nodes
}

const DEADLINE_EXCEEDED = 4
const UNAVAILABLE = 14

const reasonOf = (error: unknown): string => {
  const { code, details = '' } = error as Partial<ServiceError>
  if (code === DEADLINE_EXCEEDED) return 'it did not answer in time'
  if (code === UNAVAILABLE) return 'it cannot be reached'
  return permanentError(convertToCommandError(error as Error))?.message ?? (details || String(error))
}

const { INPROGRESS } = messages.ScavengeResp.ScavengeResult

const scavengeNode = async (address: Address, node: string, deadline: number): Promise<NodeScavenge> => {
  const options = new messages.StartScavengeReq.Options().setThreadCount(1).setStartFromChunk(0)
  try {
    const response = await callNode<InstanceType<typeof operations.OperationsClient>, ScavengeResp>(address, node, {
      service: operations.OperationsClient,
      call: (client, metadata, callOptions, answer) =>
        client.startScavenge(new messages.StartScavengeReq().setOptions(options), metadata, callOptions, answer),
      deadline,
    })
    const is = response.getScavengeResult() === INPROGRESS ? 'running' : 'started'
    return { node, is, id: response.getScavengeId() }
  } catch (error) {
    return { node, is: 'failed', why: reasonOf(error) }
  }
}

/**
 * Starts a scavenge of every node of the cluster, which removes truncated events from its disk, and continues afterwards. A server scavenges only
 * the node that is asked. The user must be a member of `$ops`.
 * @throws BadAddress
 */
export const scavengeAll = async (url: string, deadlineMs = 10_000): Promise<NodeScavenge[]> => {
  const address = parseAddress(url)
  const nodes = await nodesOf(address, attemptMs(deadlineMs))
  return Promise.all(nodes.map((node) => scavengeNode(address, node, deadlineMs)))
}
