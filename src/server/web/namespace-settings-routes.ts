import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type NamespaceInfo, RetentionDays, namespaces } from '../../contract/namespaces.ts'
import { Key } from '../../contract/parameters.ts'
import type { FeedServices } from '../feed/first-pages.ts'
import { sessionsById } from '../feed/session-lists.ts'
import { requireCaller } from '../http/caller.ts'
import { toHttpError } from '../http/errors.ts'
import { fileFormRoute, formRoute } from '../http/forms.ts'
import { MAX_BYTES, changePicture } from '../namespace/avatar-routes.ts'
import { idOfSlug, namespaceOfAdmin } from '../namespace/queries.ts'
import { changeNamespace } from '../namespace/routes.ts'
import type { AvatarServices } from '../namespace/services.ts'
import { beneathNamespace } from '../pages/links.ts'
import {
  type DetailsDraft,
  type NamespaceSettingsView,
  type ShownOutlook,
  namespaceSettingsPage,
  retentionPage,
  settingsPages,
} from '../pages/namespace-settings.ts'
import { sendPage } from '../pages/page.ts'
import { MOST_COUNTED, outlookOf } from '../retention/outlook.ts'
import { savedParameter } from './saved.ts'

const Params = z.object({ slug: Key })
type Params = z.infer<typeof Params>

/** What the page says after a form was taken. */
const saved = {
  details: 'The name and the description are saved.',
  picture: 'The picture is saved.',
  retention: 'The retention is saved.',
} as const
type Saved = keyof typeof saved

const Query = z.object({ saved: savedParameter(saved) })
type Query = z.infer<typeof Query>

const pathOf = (name: string): string => `/@:slug/-/${name}`
const slugOf = (request: FastifyRequest): string => (request.params as Params).slug
const after = (slug: string, what: Saved): string => `${beneathNamespace(slug, settingsPages.settings)}?saved=${what}`

type SettingsServices = AvatarServices & FeedServices

/** What differs between the answers that show the page. */
type Shown = Partial<Pick<NamespaceSettingsView, 'details' | 'wrongPicture' | 'retention'>> & {
  readonly saved?: Saved | undefined
}

const readerOf =
  ({ reads }: SettingsServices) =>
  (request: FastifyRequest): Promise<NamespaceInfo> =>
    namespaceOfAdmin(reads, idOfSlug(slugOf(request)), requireCaller(request))

/** What a retention of so many days deletes of a namespace, with the session that goes first. */
const shownOutlook = async (
  services: SettingsServices,
  request: FastifyRequest,
  { id }: NamespaceInfo,
  days: number,
): Promise<ShownOutlook> => {
  const { due, first } = await outlookOf(services.reads, id, days, services.now())
  const ids = first ? [first.id] : []
  const traces = await sessionsById(services, { namespaceId: id, member: requireCaller(request).userId, ids })
  return {
    ...{ days, due, isMore: due === MOST_COUNTED },
    first: first && { updatedAt: first.updatedAt, trace: traces.get(first.id) },
  }
}

/** `/@{slug}/-/settings` and its forms, for admins. */
export const namespaceSettingsRoutes = (app: FastifyInstance, services: SettingsServices): void => {
  const namespaceOf = readerOf(services)
  const page = { config: { auth: 'required', htmlPage: true } } as const

  const settings = async (request: FastifyRequest, shown: Shown) => {
    const namespace = await namespaceOf(request)
    const { retentionDays } = namespace
    const outlook =
      retentionDays === undefined ? undefined : await shownOutlook(services, request, namespace, retentionDays)
    const said = shown.saved && saved[shown.saved]
    return namespaceSettingsPage({
      ...shown,
      namespace,
      outlook,
      saved: said,
      mostBytes: MAX_BYTES,
      now: services.now(),
    })
  }

  app.get<{ Params: Params; Querystring: Query }>(
    pathOf(settingsPages.settings),
    { ...page, schema: { params: Params, querystring: Query } },
    async (request, reply) => sendPage(reply, await settings(request, request.query)),
  )

  detailsForm(app, services, settings)
  pictureForm(app, services, settings)
  retentionRoutes(app, services, settings)
}

type Settings = (request: FastifyRequest, shown: Shown) => Promise<ReturnType<typeof namespaceSettingsPage>>

const form = { auth: 'required', params: Params } as const
const Change = namespaces['PATCH /v1/namespaces/{slug}'].body.schema

const detailsForm = (app: FastifyInstance, services: SettingsServices, settings: Settings) => {
  const Details = z.object({
    displayName: Change.shape.displayName.unwrap().min(1, { error: 'must not be empty' }),
    description: Change.shape.description.unwrap(),
  })

  /** What is wrong with the fields; undefined if nothing is. */
  const wrongIn = (sent: Omit<DetailsDraft, 'wrong'>): DetailsDraft['wrong'] | undefined => {
    const issues = Details.safeParse(sent).error?.issues
    const about = (field: string, name: string) => {
      const issue = issues?.find(({ path }) => path[0] === field)
      return issue && `The ${name} ${issue.message}.`
    }
    return issues && { displayName: about('displayName', 'name'), description: about('description', 'description') }
  }

  const fields = { displayName: z.string(), description: z.string() }
  formRoute(app, { ...form, path: pathOf(settingsPages.details), fields }, async (request, reply) => {
    const { displayName, description } = request.body
    // Browsers send the lines of a field with carriage returns.
    const sent = { displayName: displayName.trim(), description: description.replaceAll('\r\n', '\n').trim() }
    const wrong = wrongIn(sent)
    if (wrong) return sendPage(reply.code(400), await settings(request, { details: { ...sent, wrong } }))
    await changeNamespace(services, request, slugOf(request), sent)
    return after(slugOf(request), 'details')
  })
}

const NO_PICTURE = 'Choose a PNG, JPEG or WebP picture of at most 4,096 pixels a side.'

const pictureForm = (app: FastifyInstance, services: SettingsServices, settings: Settings) =>
  fileFormRoute(
    app,
    {
      path: pathOf(settingsPages.picture),
      params: Params,
      field: 'picture',
      mostBytes: MAX_BYTES,
      tooLarge: `The picture is larger than ${MAX_BYTES / 1024} KiB: choose a smaller one`,
    },
    async (request, reply, bytes) => {
      try {
        await changePicture(services, request, slugOf(request), bytes)
      } catch (error) {
        if (toHttpError(error).code !== 'invalid_request') throw error
        return sendPage(reply.code(400), await settings(request, { wrongPicture: NO_PICTURE }))
      }
      return after(slugOf(request), 'picture')
    },
  )

const WRONG_DAYS = 'Type a whole number of days, from 1 to 36,500.'

const retentionRoutes = (app: FastifyInstance, services: SettingsServices, settings: Settings) => {
  const namespaceOf = readerOf(services)
  const Days = z
    .string()
    .regex(/^\d{1,5}$/)
    .transform(Number)
    .pipe(RetentionDays)
  const DaysQuery = z.object({ days: Days })

  app.get<{ Params: Params; Querystring: z.infer<typeof DaysQuery> }>(
    pathOf(settingsPages.retention),
    { config: { auth: 'required', htmlPage: true }, schema: { params: Params, querystring: DaysQuery } },
    async (request, reply) => {
      const namespace = await namespaceOf(request)
      const outlook = await shownOutlook(services, request, namespace, request.query.days)
      return sendPage(reply, retentionPage({ namespace, outlook, now: services.now() }))
    },
  )

  const fields = { keep: z.enum(['ever', 'days']), days: z.string(), confirmed: z.string().optional() }
  formRoute(app, { ...form, path: pathOf(settingsPages.retention), fields }, async (request, reply) => {
    const slug = slugOf(request)
    const { keep, days: typed, confirmed } = request.body
    const days = keep === 'ever' ? null : Days.safeParse(typed.trim()).data
    if (days === undefined)
      return sendPage(reply.code(400), await settings(request, { retention: { days: typed, wrong: WRONG_DAYS } }))
    const { retentionDays: present = Infinity } = await namespaceOf(request)
    if (days !== null && days < present && confirmed !== String(days))
      return `${beneathNamespace(slug, settingsPages.retention)}?days=${days}`
    await changeNamespace(services, request, slug, { retentionDays: days })
    return `${after(slug, 'retention')}#retention`
  })
}
