import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Key, ShortText } from '../../contract/parameters.ts'
import { contextOf } from '../http/caller.ts'
import { setSessionCookie } from '../http/cookies.ts'
import { formRoute } from '../http/forms.ts'
import { HttpError } from '../http/http-error.ts'
import { acceptAsCaller } from '../namespace/invite-routes.ts'
import type { NamespaceServices } from '../namespace/services.ts'
import { invitePath, namespacePath } from '../pages/links.ts'
import { signInInvited } from '../session/browser-sign-ins.ts'
import { switchTo } from '../session/decide.ts'
import { credentialOf, deviceOfForm, keepBrowserDevice, knownBrowser } from './browser-device.ts'
import { type InviteServices, sendInvite, sendNotJoined } from './invite-answers.ts'
import { codehostOf } from './settings.ts'

const Params = z.object({ code: Key })
type Params = z.infer<typeof Params>

type Services = InviteServices & NamespaceServices

const PATH = '/invite/:code'
const codeIn = ({ params }: FastifyRequest): string => (params as Params).code

/** The page of an invite, and its forms. Opening it changes nothing. */
export const invitePageRoutes = (app: FastifyInstance, service: Services): void => {
  app.get<{ Params: Params }>(
    PATH,
    { config: { auth: 'optional', htmlPage: true, limit: 'invite-look-up' }, schema: { params: Params } },
    (request, reply) => sendInvite(service, request.params.code, request, reply),
  )
  acceptForm(app, service)
  joinForm(app, service)
}

/** The result of `join`, or the page that says why it was refused. */
const orSayWhy = async (
  service: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  join: () => Promise<string>,
): Promise<string | FastifyReply> => {
  try {
    return await join()
  } catch (error) {
    return sendNotJoined(service, { code: codeIn(request), error }, request, reply)
  }
}

/** Accepts as the user who is signed in, whose session becomes active in the namespace. */
const acceptForm = (app: FastifyInstance, service: Services) =>
  formRoute(
    app,
    { path: `${PATH}/accept`, params: Params, fields: {}, auth: 'optional', limit: 'invite-look-up' },
    async (request, reply) => {
      const { caller } = request
      if (!caller) return invitePath(codeIn(request)) // the session has ended since the page was opened
      return orSayWhy(service, request, reply, async () => {
        const { id, slug } = await acceptAsCaller(service, request, codeIn(request))
        const decide = switchTo(caller.userId, id)
        await service.write(service.sessions, caller.sessionId, { decide }, contextOf(request))
        return namespacePath(slug)
      })
    },
  )

/** Signs in this browser as its user, or as a new one, who accepts. */
const joinForm = (app: FastifyInstance, service: Services) => {
  const { config, now } = service

  const join = async (request: FastifyRequest, reply: FastifyReply, displayName: string | undefined, token: string) => {
    const device = deviceOfForm(request, config, token)
    // With a code host, new people are those whom it knows.
    if (codehostOf(config) && !(await knownBrowser(service, request)))
      throw new HttpError(
        'forbidden',
        'New people sign in with the code host here: open the invite again, and go on there',
      )
    const names = displayName === undefined ? {} : { displayName }
    const [credential, inviteCode, requestId] = [credentialOf(device), codeIn(request), request.id]
    const session = await signInInvited(service, { credential, inviteCode, names, requestId })
    setSessionCookie(reply, config, session, now())
    keepBrowserDevice(request, reply, config, device)
    return namespacePath(session.namespaceSlug!)
  }

  const fields = { token: z.string().optional(), displayName: ShortText.optional() }
  formRoute(
    app,
    { path: `${PATH}/join`, params: Params, fields, auth: 'optional', limit: 'device-session' },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      if (request.caller) return invitePath(codeIn(request)) // signed in meanwhile, perhaps as another user
      const { token = '', displayName } = request.body
      const name = displayName?.trim() || undefined
      return orSayWhy(service, request, reply, () => join(request, reply, name, token))
    },
  )
}
