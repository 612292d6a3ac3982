import http from 'node:http'
import https from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import zlib from 'node:zlib'
import { RequestFailed } from './errors.ts'

/** A request as `openapi-fetch` makes it, of its own class because a `Request` copies the body. */
export class HttpRequest {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly body: string | undefined

  constructor(url: string, { method = 'GET', headers, body }: RequestInit) {
    this.url = url
    this.method = method
    this.headers = new Headers(headers)
    this.body = typeof body === 'string' ? body : undefined
  }
}

/** What `openapi-fetch` uses of a response. */
export class HttpResponse {
  readonly status: number
  readonly headers: Headers
  readonly #body: Buffer

  constructor(status: number, headers: Headers, body: Buffer) {
    this.status = status
    this.headers = headers
    this.#body = body
  }

  get ok(): boolean {
    return this.status >= 200 && this.status <= 299
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(this.#body)
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }
}

export type Limits = { readonly timeoutMs: number; readonly maxBytes: number }

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
}

/** The body of a response, decompressed. */
const contentOf = (response: http.IncomingMessage): Readable => {
  const decoder = decoders[response.headers['content-encoding'] ?? '']?.()
  // The callback of `pipeline` is told what the reader is told too.
  return decoder ? (pipeline(response, decoder, () => {}) as unknown as Readable) : response
}

/**
 * All bytes of a stream. Stops reading and rejects with `tooLarge` beyond `maxBytes`, so that a small compressed body cannot fill
 * the memory.
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
  body: string | undefined,
  maxBytes: number,
): Promise<HttpResponse> => {
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
  return new HttpResponse(status, headersOf(response), content)
}

/**
 * Sends a request over a connection that is kept for the next one, and reads the whole answer; follows no redirects. `fetch` would
 * take five times the processor time. Throws RequestFailed for a body over `maxBytes` or a status over 599; otherwise as `fetch`
 * does: a TypeError with its cause when there is no answer, and a DOMException when it is not complete after `timeoutMs`.
 */
export const exchange = async (
  { url, method, headers, body }: HttpRequest,
  { timeoutMs, maxBytes }: Limits,
): Promise<HttpResponse> => {
  const all = { 'accept-encoding': 'gzip, deflate, br', ...Object.fromEntries(headers) }
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
