import { RequestFailed } from './errors.ts'

/** Far above the result of a batch, which lists up to 200 messages. */
export const MAX_BYTES = 4 << 20

const STATUSES_WITHOUT_BODY = [204, 205, 304]

const rejectedResponse = ({ status, url }: Response, what: string) =>
  new RequestFailed(`${URL.parse(url)?.origin ?? 'the server'}: ${what}`, { status })

/** The whole body, decompressed. Stops reading at `maxBytes`, so that a small compressed body cannot fill the memory. */
const readBody = async (response: Response, maxBytes: number): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw rejectedResponse(response, `its answer is larger than ${maxBytes >> 20} MiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * `fetch` with limits, for servers that are not trusted: returns a response whose body has been read. Throws RequestFailed
 * for a body over `maxBytes` or a status over 599, and what `fetch` throws, also when the body is not complete after `timeoutMs`.
 */
export const boundedFetch = async (request: Request, timeoutMs: number, maxBytes = MAX_BYTES): Promise<Response> => {
  const response = await fetch(request, { signal: AbortSignal.timeout(timeoutMs) })
  const { status, headers } = response
  if (status > 599) {
    await response.body?.cancel()
    throw rejectedResponse(response, `status ${status}`)
  }
  const body = await readBody(response, maxBytes)
  return new Response(STATUSES_WITHOUT_BODY.includes(status) ? null : (body as Uint8Array<ArrayBuffer>), {
    status,
    headers,
  })
}
