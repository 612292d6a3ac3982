import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { sha256 } from '../base/ids.ts'
import { formRoute } from '../http/forms.ts'
import { notFound } from '../http/http-error.ts'
import { originOf, targetOrigin } from '../http/origin.ts'
import { sendPage } from '../pages/page.ts'
import { CODEHOST_SIGN_IN, SIGN_IN, signInPage } from '../pages/sign-in.ts'
import { ensureBrowserCookie } from './browser-cookie.ts'
import type { Codehost } from './codehost.ts'
import { CALLBACK, ownPageUrl } from './redirect.ts'
import type { CodehostServices } from './services.ts'
import { type CodehostSettings, hostOf } from './settings.ts'

type OwnCodehost = { readonly codehost: Codehost; readonly settings: CodehostSettings } | undefined

const next = z.string().optional()
const Query = z.object({ next })

/** `GET /signin`, the page where a browser signs in, and its form, which starts a sign-in with the code host. */
export const signInPageRoutes = (app: FastifyInstance, service: CodehostServices, own: OwnCodehost): void => {
  const { config, handshakes } = service

  /** The page of this service that a sign-in leads to: never another site. */
  const targetOf = (text: string | undefined, origin: string) => ownPageUrl(text ?? '/', origin) ?? `${origin}/`
  /** With one slash at the beginning: two would lead to another host. */
  const pathOf = (url: string) => url.slice(new URL(url).origin.length).replace(/^\/+/, '/')

  app.get<{ Querystring: z.infer<typeof Query> }>(
    SIGN_IN,
    { config: { auth: 'optional', htmlPage: true }, schema: { querystring: Query } },
    async (request, reply) => {
      const origin = targetOrigin(request) ?? originOf(app, config)
      const target = targetOf(request.query.next, origin)
      if (request.caller) return reply.redirect(pathOf(target), 303)
      return sendPage(reply, signInPage({ codehost: own && hostOf(own.settings), next: pathOf(target), origin }))
    },
  )

  formRoute(
    app,
    { path: CODEHOST_SIGN_IN, auth: 'none', limit: 'sign-in', fields: { next } },
    async (request, reply) => {
      if (!own) throw notFound()
      const origin = originOf(app, config)
      const { expiresAt: _, ...secrets } = await handshakes.start({
        redirectTo: targetOf(request.body.next, origin),
        deviceName: 'browser',
        browserKey: sha256(ensureBrowserCookie(request, reply, config)),
      })
      return own.codehost.authorizeUrl(secrets, `${origin}${CALLBACK}`)
    },
  )
}
