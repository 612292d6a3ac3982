import { RequestFailed } from '../api/errors.ts'
import { networkError, refusal } from '../api/answer-data.ts'
import { realTiming, type RetryTiming, withRetry } from '../api/retry.ts'

/** A server that sends nothing for this long counts as lost. */
const SILENCE_MS = 120_000
const MOST_OF_AN_ERROR = 64 * 1024

type Download = {
  readonly server: string
  /** The path and query of the download. */
  readonly path: string
  readonly token: string | undefined
  readonly timing?: RetryTiming
}

const textOf = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MOST_OF_AN_ERROR) break
  }
  return Buffer.concat(chunks).toString()
}

/** The code of a failure after the first piece of a file: another attempt may succeed. */
export const BROKE_OFF = 'broke_off'

/** Redirects are not followed, so that a token never reaches another server. */
const request = async ({ server, path, token }: Download, signal: AbortSignal): Promise<Response> => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(`${server}${path}`, { redirect: 'manual', headers, signal })
  if (response.status === 200) {
    if (response.headers.get('content-disposition')?.startsWith('attachment')) return response
    await response.body?.cancel()
    throw new RequestFailed(`${server}: this is not the address of a Tracebook server`, { status: 200 })
  }
  throw refusal(server, { status: response.status, headers: response.headers, text: await textOf(response) })
}

/**
 * Downloads a file, piece by piece. Temporary failures are tried again until the first piece is there.
 * @throws RequestFailed, also if the file ends early
 */
export async function* download(wanted: Download): AsyncGenerator<Uint8Array, void> {
  const silence = new AbortController()
  let timer = setTimeout(() => {}, 0)
  const heard = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(new DOMException('no answer in time', 'TimeoutError')), SILENCE_MS)
  }
  const open = async () => {
    heard()
    return request(wanted, silence.signal).catch((error: unknown) => {
      throw networkError(wanted.server, error)
    })
  }
  try {
    const response = await withRetry(open, wanted.timing ?? realTiming)
    try {
      for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        heard()
        yield chunk
      }
    } catch (error) {
      throw new RequestFailed(
        'the transfer broke off: the session was changed, deleted or unpublished meanwhile, or the connection was lost',
        { code: BROKE_OFF },
        { cause: error },
      )
    }
  } finally {
    clearTimeout(timer)
  }
}
