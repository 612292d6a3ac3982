import http from 'node:http'
import https from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import zlib from 'node:zlib'
import { RequestFailed } from './errors.ts'

/** Far above the result of a batch, which lists up to 200 messages. */
export const MAX_BYTES = 4 << 20

type Sent = {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer | undefined
}

export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string }

/** An answer with its bytes, which may be no text. */
export type AnswerBytes = Answer & { readonly bytes: Buffer }

type Limits = { readonly timeoutMs: number; readonly maxBytes: number }

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
}

/** The body of a response, decompressed. */
const contentOf = (response: http.IncomingMessage): Readable => {
  const decoder = decoders[response.headers['content-encoding'] ?? '']?.()
  // Errors reach the reader of the stream, so the callback of `pipeline` has nothing to do.
  return decoder ? (pipeline(response, decoder, () => {}) as unknown as Readable) : response
}

/**
 * All bytes of a stream. Stops reading and rejects with `tooLarge` after `maxBytes`, so that a small compressed body cannot fill the
 * memory.
 */
const readAll = (stream: Readable, maxBytes: number, tooLarge: () => Error): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maxBytes) return void chunks.push(chunk)
      reject(tooLarge())
      stream.destroy()
    })
    stream.once('end', () => resolve(Buffer.concat(chunks)))
    stream.once('error', reject)
  })

const headersOf = ({ rawHeaders }: http.IncomingMessage): Headers => {
  const headers = new Headers()
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!)
  return headers
}

const answerTo = async (
  request: http.ClientRequest,
  url: string,
  body: Sent['body'],
  maxBytes: number,
): Promise<AnswerBytes> => {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    request.on('error', reject)
    request.end(body)
  })
  const { statusCode: status = 0 } = response
  const rejected = (what: string) => {
    response.destroy()
    return new RequestFailed(`${URL.parse(url)?.origin ?? 'the server'}: ${what}`, { status })
  }
  if (status > 599) throw rejected(`status ${status}`)
  const content = await readAll(contentOf(response), maxBytes, () =>
    rejected(`its answer is larger than ${maxBytes >> 20} MiB`),
  )
  return { status, headers: headersOf(response), text: new TextDecoder().decode(content), bytes: content }
}

/**
 * Sends a request over a connection that is kept for the next one, and reads the whole answer. Follows no redirects. `fetch` takes
 * five times the processor time. Throws RequestFailed for a body over `maxBytes` and for a status over 599, otherwise what `fetch`
 * throws: a TypeError with its cause where there is no answer, and a DOMException where it is not complete after `timeoutMs`.
 */
export const exchange = async (
  { url, method, headers, body }: Sent,
  { timeoutMs, maxBytes }: Limits,
): Promise<AnswerBytes> => {
  const all = { 'accept-encoding': 'gzip, deflate, br', ...headers }
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  let timeout: DOMException | undefined
  let timer: NodeJS.Timeout | undefined
  try {
    const request = (url.startsWith('https:') ? https : http).request(url, { method, headers: { ...all, ...length } })
    timer = setTimeout(() => {
      timeout = new DOMException('no answer in time', 'TimeoutError')
      request.destroy(timeout)
    }, timeoutMs)
    return await answerTo(request, url, body, maxBytes)
  } catch (error) {
    if (error instanceof RequestFailed) throw error
    throw timeout ?? new TypeError('no answer', { cause: error })
  } finally {
    clearTimeout(timer)
  }
}
