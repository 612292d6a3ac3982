import { readFile, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { untrustedCertificate } from '../../base/untrusted-certificate.ts'

/** The text of a catalogue and its ETag, or `same` when it still has the given ETag. */
type SourceResult =
  { readonly is: 'same' } | { readonly is: 'read'; readonly text: string; readonly etag: string | undefined }

/** The source cannot be read or parsed. The cause is outside of the service. */
export class SourceFailed extends Error {
  override readonly name = 'SourceFailed'
}

type SourceLimits = { readonly maxBytes?: number; readonly timeoutMs?: number }

const MAX_BYTES = 32 * 1024 * 1024
const TIMEOUT_MS = 30_000

const tooLarge = (maxBytes: number) => new Error(`it is larger than ${maxBytes} bytes`)

/** The whole body as text. @throws Error as soon as it exceeds `maxBytes` */
const readBody = async (response: Response, maxBytes: number): Promise<string> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const readUrl = async (url: string, etag: string | undefined, maxBytes: number, signal: AbortSignal) => {
  const headers = { accept: 'application/json', ...(etag === undefined ? {} : { 'if-none-match': etag }) }
  const response = await fetch(url, { headers, signal })
  if (response.status === 304) return { is: 'same' } as const
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`it answered ${response.status}`)
  }
  const text = await readBody(response, maxBytes)
  return { is: 'read', text, etag: response.headers.get('etag') ?? undefined } as const
}

const readLocalFile = async (path: string, maxBytes: number, signal: AbortSignal) => {
  if ((await stat(path)).size > maxBytes) throw tooLarge(maxBytes)
  return { is: 'read', text: await readFile(path, { encoding: 'utf8', signal }), etag: undefined } as const
}

/** Whether a source is read over the network. */
export const isAddress = (source: string): boolean => /^https?:/i.test(source)

/**
 * Reads a catalogue from an `http(s)` URL, a `file:` URL or a path. `etag` is that of the last copy.
 * @throws Error with the reason why it cannot be read
 */
export const readSource = async (
  source: string,
  etag: string | undefined,
  signal: AbortSignal,
  { maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS }: SourceLimits = {},
): Promise<SourceResult> => {
  const timeout = AbortSignal.timeout(timeoutMs)
  const either = AbortSignal.any([signal, timeout])
  try {
    if (isAddress(source)) return await readUrl(source, etag, maxBytes, either)
    return await readLocalFile(source.startsWith('file:') ? fileURLToPath(source) : source, maxBytes, either)
  } catch (error) {
    if (timeout.aborted) throw new Error(`it did not answer within ${timeoutMs} ms`, { cause: error })
    const { cause } = error as { cause?: unknown }
    throw cause instanceof Error ? new Error(untrustedCertificate(cause) ?? cause.message, { cause: error }) : error
  }
}
