import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { Key, ShortText } from '../../contract/parameters.ts'
import { cookieNameOf } from '../http/auth.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { clearSessionCookie, plainCookie } from '../http/cookies.ts'
import { formRoute } from '../http/forms.ts'
import { sendPage } from '../pages/page.ts'
import { browserLinkPage, settingsForms, settingsPage } from '../pages/settings.ts'
import { JOIN } from '../pages/sign-in.ts'
import { KEYS_COOKIE, THEME_COOKIE, viewerOf } from '../pages/viewer.ts'
import { endOwnSession, makeDeviceCode, ownSessions } from '../session/routes.ts'
import type { SessionServices } from '../session/services.ts'
import { signOut } from '../session/decide.ts'
import { findBrowser, forgetBrowserDevice } from '../signin/browser-device.ts'
import { pageOrigin } from '../signin/browser-routes.ts'
import { withParameters } from '../signin/redirect.ts'
import { rename } from '../user/decide.ts'
import { identitiesOf, userById } from '../user/queries.ts'
import { removeOwnIdentity } from '../user/routes.ts'
import type { UserServices } from '../user/services.ts'
import { savedParameter } from './saved.ts'

const SETTINGS = '/settings'

/** What the page says after a form was saved. */
const saved = {
  name: 'Your name is saved.',
  look: 'The appearance is saved.',
  session: 'The device is signed out.',
  identity: 'The identity is removed.',
} as const
type Saved = keyof typeof saved
const after = (what: Saved): string => `${SETTINGS}?saved=${what}`

const Query = z.object({ saved: savedParameter(saved) })
const YEAR_SECONDS = 31_536_000

type SettingsServices = SessionServices & UserServices

/** `GET /settings` and its forms. */
export const settingsRoutes = (app: FastifyInstance, service: SettingsServices): void => {
  const { reads } = service
  app.get<{ Querystring: z.infer<typeof Query> }>(
    SETTINGS,
    { config: { auth: 'required', htmlPage: true }, schema: { querystring: Query } },
    async (request, reply) => {
      const caller = requireCaller(request)
      const [user, sessions, identities, browser] = await Promise.all([
        userById(reads, caller.userId),
        ownSessions(service, caller),
        identitiesOf(reads, caller.userId),
        findBrowser(service, request),
      ])
      const browserId = browser?.userId === caller.userId ? browser.identityId : undefined
      const viewer = viewerOf(request)
      const { identityId } = caller
      const done = request.query.saved
      return sendPage(
        reply,
        settingsPage({ user, sessions, identities, identityId, browserId, viewer, saved: done && saved[done] }),
      )
    },
  )
  accountForms(app, service)
  lookForm(app, service)
}

const accountForms = (app: FastifyInstance, service: SettingsServices) => {
  const { write, config } = service
  const form = { auth: 'required' } as const

  formRoute(app, { ...form, path: settingsForms.name, fields: { displayName: ShortText } }, async (request) => {
    const { userId } = requireCaller(request)
    await write(service.users, userId, { decide: rename(request.body.displayName) }, contextOf(request))
    return after('name')
  })

  formRoute(app, { ...form, path: settingsForms.session, fields: { id: Key } }, async (request, reply) => {
    const { sessionId } = requireCaller(request)
    await endOwnSession(service, request, request.body.id)
    if (request.body.id !== sessionId) return after('session')
    clearSessionCookie(reply, config)
    return '/'
  })

  formRoute(app, { ...form, path: settingsForms.identity, fields: { id: Key } }, async (request, reply) => {
    const { identityId } = requireCaller(request)
    const browser = await findBrowser(service, request)
    await removeOwnIdentity(service, request, reply, request.body.id)
    if (request.body.id === browser?.identityId) forgetBrowserDevice(request, reply, config)
    return request.body.id === identityId ? '/' : after('identity')
  })

  formRoute(app, { ...form, path: settingsForms.browser, fields: {}, limit: 'sign-in' }, async (request, reply) => {
    const origin = pageOrigin(app, service, request)
    const { code, expiresAt } = await makeDeviceCode(service, requireCaller(request))
    return sendPage(reply, browserLinkPage(withParameters(`${origin}${JOIN}`, { code }), expiresAt))
  })

  formRoute(app, { ...form, path: settingsForms.signOut, fields: {} }, async (request, reply) => {
    const { sessionId } = requireCaller(request)
    await write(service.sessions, sessionId, { decide: signOut() }, contextOf(request))
    clearSessionCookie(reply, config)
    return '/'
  })
}

/** The form for the settings of a browser. They are cookies, because the server needs them: a page must not change its colours after it was shown. */
const lookForm = (app: FastifyInstance, { config }: SettingsServices) => {
  const keep = (reply: FastifyReply, name: string, value: string | undefined) => {
    const isSecure = cookieNameOf(config, reply.request).startsWith('__Host-')
    reply.header('set-cookie', plainCookie(name, value ?? '', value === undefined ? 0 : YEAR_SECONDS, isSecure))
  }

  const fields = { theme: z.enum(['system', 'light', 'dark']), keys: z.enum(['on', 'off']) }
  formRoute(app, { auth: 'required', path: settingsForms.look, fields }, async ({ body: { theme, keys } }, reply) => {
    keep(reply, THEME_COOKIE, theme === 'system' ? undefined : theme)
    keep(reply, KEYS_COOKIE, keys === 'off' ? 'off' : undefined)
    return after('look')
  })
}
