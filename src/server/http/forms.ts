import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { FORM_TYPE } from '../../contract/route.ts'
import type { AddressLimit } from './limits.ts'

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
