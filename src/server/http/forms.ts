import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { FORM_TYPE } from '../../contract/route.ts'
import type { AddressLimit } from './limits.ts'
import { HttpError, invalid } from './http-error.ts'

/** A title of 4,096 characters, percent-encoded, has up to 48 KiB. */
const FORM_BYTES = 64 * 1024

/**
 * Lets the routes of a scope accept forms. Other routes do not, because any site can make a browser post a form without a CORS
 * preflight; so each of these routes has to check which page the form comes from.
 */
export const acceptForms = (scope: FastifyInstance): void =>
  void scope.addContentTypeParser(FORM_TYPE, { parseAs: 'string', bodyLimit: FORM_BYTES }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  )

/** Besides the file itself, a form with a file has its boundaries and the head of the part. */
const FORM_OVERHEAD_BYTES = 4 * 1024

/** The bytes of a file in a `multipart/form-data` body; undefined if the field has none. @throws HttpError invalid_request for a broken body */
const fileIn = async (body: Buffer, type: string, field: string): Promise<Buffer | undefined> => {
  // The parser of fetch, which Node has: for a single small file it needs no streaming one.
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData().catch(() => {
    throw invalid(undefined, 'The form could not be read: send it again')
  })
  const file = form.get(field)
  return file instanceof File && file.size > 0 ? Buffer.from(await file.arrayBuffer()) : undefined
}

/** The address that the browser is redirected to, or the reply if the handler has sent a page instead. */
type Done = string | FastifyReply

type Form<Fields extends z.ZodRawShape> = {
  readonly path: string
  readonly params?: z.ZodObject
  readonly fields: Fields
  readonly auth: 'required' | 'optional' | 'none'
  readonly limit?: AddressLimit
}

type FormRequest<Fields extends z.ZodRawShape> = FastifyRequest & { readonly body: z.infer<z.ZodObject<Fields>> }

/**
 * Serves the form of a page: it is accepted from pages of the service only, and answered with a redirect to what `handle` returns.
 */
export const formRoute = <Fields extends z.ZodRawShape>(
  app: FastifyInstance,
  { path, params, fields, auth, limit }: Form<Fields>,
  handle: (request: FormRequest<Fields>, reply: FastifyReply) => Promise<Done>,
): void => {
  void app.register(async (scope) => {
    acceptForms(scope)
    scope.post(
      path,
      {
        config: { auth, htmlPage: true, ownPagesOnly: true, ...(limit ? { limit } : {}) },
        schema: { body: z.object(fields), ...(params ? { params } : {}) },
      },
      async (request, reply) => {
        const done = await handle(request as FormRequest<Fields>, reply)
        return typeof done === 'string' ? reply.redirect(done, 303) : done
      },
    )
  })
}

type FileForm = {
  readonly path: string
  readonly params: z.ZodObject
  /** The field with the file. */
  readonly field: string
  readonly mostBytes: number
  /** What the page says if the file is larger. */
  readonly tooLarge: string
}

const isTooLarge = (error: unknown): boolean => (error as { code?: unknown }).code === 'FST_ERR_CTP_BODY_TOO_LARGE'

/** Serves a form of a page with one file, like `formRoute`. The handler gets the bytes of the file; undefined if none was chosen. */
export const fileFormRoute = (
  app: FastifyInstance,
  { path, params, field, mostBytes, tooLarge }: FileForm,
  handle: (request: FastifyRequest, reply: FastifyReply, bytes: Buffer | undefined) => Promise<Done>,
): void => {
  void app.register(async (scope) => {
    scope.addContentTypeParser(
      'multipart/form-data',
      { parseAs: 'buffer', bodyLimit: mostBytes + FORM_OVERHEAD_BYTES },
      (request, body, done) => {
        fileIn(body as Buffer, request.headers['content-type']!, field).then((file) => done(null, { file }), done)
      },
    )
    scope.setErrorHandler((error) => {
      throw isTooLarge(error) ? new HttpError('payload_too_large', tooLarge) : error
    })
    scope.post(
      path,
      { config: { auth: 'required', htmlPage: true, ownPagesOnly: true }, schema: { params } },
      async (request, reply) => {
        const { file } = (request.body ?? {}) as { readonly file?: Buffer }
        if (file && file.length > mostBytes) throw new HttpError('payload_too_large', tooLarge)
        const done = await handle(request, reply, file)
        return typeof done === 'string' ? reply.redirect(done, 303) : done
      },
    )
  })
}
