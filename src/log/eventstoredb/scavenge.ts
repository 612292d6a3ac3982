import type { EventStoreDBClient } from '@eventstore/db-client'
import operations from '@eventstore/db-client/generated/operations_grpc_pb.js'
import messages from '@eventstore/db-client/generated/operations_pb.js'
import { parseAddress } from './address.ts'
import { newConnection } from './connection.ts'

type Operations = InstanceType<typeof operations.OperationsClient>

/** The client has no method for it, but can make any call over its connection. */
type Inner = {
  execute<T>(service: unknown, name: string, work: (operations: Operations) => Promise<T>): Promise<T>
  callArguments(
    options: object,
  ): Parameters<Operations['startScavenge']> extends [unknown, ...infer Rest] ? Rest : never
}

/**
 * Starts a scavenge of one node and gives its id: what has been truncated leaves the disk. It runs on by itself, and
 * in a cluster each node needs its own. Needs the rights of `$ops`.
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
