import type { CallOptions, ClientWritableStream, Metadata, ServiceError } from '@grpc/grpc-js'
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { AppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { parseReadResponse } from './read-response.ts'

const { append, read } = streams.StreamsService
const asItIs = (message: Buffer) => message

/** The client's calls of streams without its encoders: they take more time than everything else that happens to an event. */
export class LeanStreams extends streams.StreamsClient {
  /** Parses all responses by `parseReadResponse`: every reader of these connections expects that. */
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
    return this.makeClientStreamRequest(path, asItIs, responseDeserialize, metadata, options, answer)
  }
}
