import { RequestFailed } from './errors.ts'

/** Far more than any answer that the command line asks for: a batch's names its messages, 200 at most. */
const MOST_BYTES = 4 << 20

const WITHOUT_BODY = [204, 205, 304]

const refused = ({ status, url }: Response, what: string) =>
  new RequestFailed(`${URL.parse(url)?.origin ?? 'the server'}: ${what}`, { status })

/** The whole body, unpacked; read no further than it may be long. */
const bodyOf = async (response: Response): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > MOST_BYTES) throw refused(response, `its answer is larger than ${MOST_BYTES >> 20} MiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * `fetch` for a server that is not trusted with this machine's memory: an answer of more than 4 MiB, or one that is not whole
 * after `patienceMs`, is given up. Throws RequestFailed for the first, and what fetch throws.
 */
export const boundedFetch = async (request: Request, patienceMs: number): Promise<Response> => {
  const response = await fetch(request, { signal: AbortSignal.timeout(patienceMs) })
  const { status, headers } = response
  if (status > 599) {
    await response.body?.cancel()
    throw refused(response, `status ${status}`)
  }
  const body = await bodyOf(response)
  return new Response(WITHOUT_BODY.includes(status) ? null : (body as Uint8Array<ArrayBuffer>), { status, headers })
}
