import type { EventStoreDBClient } from '@eventstore/db-client'
import operations from '@eventstore/db-client/generated/operations_grpc_pb.js'
import messages from '@eventstore/db-client/generated/operations_pb.js'
import { parseAddress } from './address.ts'
import { newConnection } from './connection.ts'

type Operations = InstanceType<typeof operations.OperationsClient>

/** Private methods of the client, which has no public method for scavenging. */
type Inner = {
  execute<T>(service: unknown, name: string, work: (operations: Operations) => Promise<T>): Promise<T>
  callArguments(
    options: object,
  ): Parameters<Operations['startScavenge']> extends [unknown, ...infer Rest] ? Rest : never
}

/**
 * Starts a scavenge of one node, which removes truncated events from its disk, and returns the id of the scavenge, which continues
 * afterwards. In a cluster each node needs its own. The user must be a member of `$ops`.
 */
export const startScavenge = async (url: string, deadlineMs = 10_000): Promise<string> => {
  const address = parseAddress(url)
  const connection = newConnection(address)
  const inner = connection.client() satisfies EventStoreDBClient as unknown as Inner
  const request = new messages.StartScavengeReq().setOptions(
    new messages.StartScavengeReq.Options().setThreadCount(1).setStartFromChunk(0),
  )
  try {
    return await inner.execute(operations.OperationsClient, 'startScavenge', (client) => {
      const [metadata, options] = inner.callArguments({ credentials: address.credentials, deadline: deadlineMs })
      return new Promise<string>((resolve, reject) =>
        client.startScavenge(request, metadata as never, options as never, (error, response) =>
          error ? reject(error) : resolve(response.getScavengeId()),
        ),
      )
    })
  } finally {
    await connection.close()
  }
}
