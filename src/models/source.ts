import { readFile, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** What a catalogue's source answers: its text, or that it is the same as the one with this ETag. */
export type Fetched =
  { readonly is: 'same' } | { readonly is: 'read'; readonly text: string; readonly etag: string | undefined }

/** The source cannot be read, or what it says makes no sense: nothing that is ours to mend. */
export class SourceFailed extends Error {
  override readonly name = 'SourceFailed'
  /** Whether the registry holds a copy from before. */
  readonly hasCopy: boolean

  constructor(message: string, hasCopy: boolean, cause?: unknown) {
    super(message, { cause })
    this.hasCopy = hasCopy
  }
}

export type SourceLimits = { readonly maxBytes?: number; readonly timeoutMs?: number }

const MAX_BYTES = 32 * 1024 * 1024
const TIMEOUT_MS = 30_000

const tooLarge = (maxBytes: number) => new Error(`it is larger than ${maxBytes} bytes`)

/** The whole body, given up as soon as it is too long. */
const bodyOf = async (response: Response, maxBytes: number): Promise<string> => {
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
  const text = await bodyOf(response, maxBytes)
  return { is: 'read', text, etag: response.headers.get('etag') ?? undefined } as const
}

const readPath = async (path: string, maxBytes: number, signal: AbortSignal) => {
  if ((await stat(path)).size > maxBytes) throw tooLarge(maxBytes)
  return { is: 'read', text: await readFile(path, { encoding: 'utf8', signal }), etag: undefined } as const
}

/**
 * Reads a catalogue from an `http(s)` URL or a file. `etag` is that of the copy one has.
 * @throws Error that says in words why it cannot be read
 */
export const readSource = async (
  source: string,
  etag: string | undefined,
  signal: AbortSignal,
  { maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS }: SourceLimits = {},
): Promise<Fetched> => {
  const limit = AbortSignal.timeout(timeoutMs)
  const either = AbortSignal.any([signal, limit])
  try {
    if (/^https?:/i.test(source)) return await readUrl(source, etag, maxBytes, either)
    return await readPath(source.startsWith('file:') ? fileURLToPath(source) : source, maxBytes, either)
  } catch (error) {
    if (limit.aborted) throw new Error(`it did not answer within ${timeoutMs} ms`, { cause: error })
    const { cause } = error as { cause?: unknown }
    throw cause instanceof Error ? new Error(cause.message, { cause: error }) : error
  }
}
