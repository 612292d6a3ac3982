import type { CallOptions, ClientWritableStream, Metadata, ServiceError } from '@grpc/grpc-js'
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { AppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { parseReadResponse } from './read-response.ts'

const { append, read } = streams.StreamsService
const unchanged = (message: Buffer) => message

/** The client's calls of streams without its encoders, which take more time than everything else that is done with an event. */
export class LeanStreams extends streams.StreamsClient {
  /** Parses all responses by `parseReadResponse`, as every reader of these connections expects. */
  override read(request: never, ...[metadata, options]: unknown[]): never {
    const { path, requestSerialize } = read
    return this.makeServerStreamRequest(
      path,
      requestSerialize,
      parseReadResponse,
      request,
      metadata as never,
      options as never,
    ) as never
  }

  /** `append` for messages that are encoded already. */
  appendEncoded(
    metadata: Metadata,
    options: Partial<CallOptions>,
    answer: (error: ServiceError | null, response?: AppendResp) => void,
  ): ClientWritableStream<Buffer> {
    const { path, responseDeserialize } = append
    return this.makeClientStreamRequest(path, unchanged, responseDeserialize, metadata, options, answer)
  }
}
