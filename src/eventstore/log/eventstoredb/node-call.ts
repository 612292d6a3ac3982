import type { ServiceError } from '@grpc/grpc-js'
import type { Address } from './address.ts'
import { newConnection } from './connection.ts'

/** Private methods of the client, which has no public ones for these calls. */
type Inner = {
  execute<T>(service: unknown, name: string, work: (stub: object) => Promise<T>): Promise<T>
  callArguments(options: object): [metadata: object, options: object]
}

/** A call with one answer; `stub` is the client of the service that was generated from its definition. */
type NodeCall<Stub, Answer> = {
  readonly service: new (...args: never[]) => Stub
  readonly call: (
    stub: Stub,
    metadata: never,
    options: never,
    answer: (error: ServiceError | null, response: Answer) => void,
  ) => void
  /** Milliseconds. */
  readonly deadline: number
}

/** Calls one node (`host:port`), whatever that knows of a cluster, over a connection of its own. @throws errors of the client */
export const callNode = async <Stub extends object, Answer>(
  address: Address,
  node: string,
  { service, call, deadline }: NodeCall<Stub, Answer>,
): Promise<Answer> => {
  const connection = newConnection({ ...address, clientUrl: () => address.directUrl(node) })
  const inner = connection.client() as unknown as Inner
  try {
    return await inner.execute(service, service.name, (stub) => {
      const [metadata, options] = inner.callArguments({ credentials: address.credentials, deadline })
      return new Promise<Answer>((resolve, reject) =>
        call(stub as Stub, metadata as never, options as never, (error, response) =>
          error ? reject(error) : resolve(response),
        ),
      )
    })
  } finally {
    await connection.close()
  }
}
