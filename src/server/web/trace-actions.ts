import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type TraceDetail, TraceUpsert, Visibility } from '../../contract/trace.ts'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import { moveForCaller, type MovingServices } from '../history/move-route.ts'
import { type Caller, requireCaller } from '../http/caller.ts'
import { formRoute } from '../http/forms.ts'
import { namespacesOf } from '../namespace/queries.ts'
import { namespacePath, tracePath } from '../pages/links.ts'
import { type Page, sendPage } from '../pages/page.ts'
import {
  deletePage,
  markOfTitle,
  renamePage,
  titleLine,
  titleOfTrace,
  titleToType,
  traceActions,
  visibilityPage,
} from '../pages/trace-actions.ts'
import { patch, rename } from '../trace/decide.ts'
import { type TraceName, locateToRead, locateToWrite, writeLocated } from '../trace/locate.ts'
import { shownRow } from '../trace/model-names.ts'
import { removeTrace, writeTrace } from '../trace/upsert.ts'
import { isUnseen } from '../../transcript/visible.ts'
import { userById } from '../user/queries.ts'
import { detailText } from '../trace/views.ts'
import { TraceParams } from './trace-params.ts'

const pathOf = (name: string): string => `/@:slug/:externalId/-/${name}`
/** Another namespace as a value of the form: `@` and its slug. */
const Team = z.string().regex(/^@/)

const nameOf = ({ slug, externalId }: TraceParams): TraceName => ({ externalId, namespace: slug })

/** A title with the characters that a keyboard has: people type `...` where a program has written `…`. */
const asTyped = (title: string): string =>
  title.replaceAll('…', '...').replace(/[‘’]/g, "'").replace(/[“”]/g, '"').replace(/\s+/g, ' ').trim()

/** What is wrong with a title that was typed; undefined if nothing is. */
const wrongWith = (title: string): string | undefined => {
  if (isUnseen(title)) return 'Type a title.'
  const [issue] = TraceUpsert.shape.title.safeParse(title).error?.issues ?? []
  return issue && `The title ${issue.message}.`
}

const isChanged = (error: unknown): boolean => error instanceof Rejected && error.code === 'changed'

/** The pages on which a trace is made public, made private again, moved to a team, renamed and deleted, and their forms. */
export const traceActionRoutes = (app: FastifyInstance, service: MovingServices): void => {
  /** @throws 404 if the caller may not read the trace, 403 if the caller may read it but not write to it */
  const writable = async (request: FastifyRequest): Promise<TraceDetail> => {
    const caller = requireCaller(request)
    const name = nameOf(request.params as TraceParams)
    await locateToWrite(service, caller, name)
    const { trace } = await locateToRead(service.reads, name, caller)
    return JSON.parse(detailText(shownRow(await service.models.known(), trace))) as TraceDetail
  }

  const authorOf = async ({ createdBy }: TraceDetail) => (await userById(service.reads, createdBy)).displayName

  const page = (name: string, pageOf: (trace: TraceDetail, caller: Caller) => Page | Promise<Page>) =>
    app.get(
      pathOf(name),
      { config: { auth: 'required', htmlPage: true }, schema: { params: TraceParams } },
      async (request, reply) => sendPage(reply, await pageOf(await writable(request), requireCaller(request))),
    )
  page(traceActions.visibility, async (trace, { userId }) => {
    const [author, all] = await Promise.all([authorOf(trace), namespacesOf(service.reads, userId)])
    const teams = all.filter(({ slug }) => slug !== trace.namespace.slug)
    return visibilityPage(trace, author, teams)
  })
  page(traceActions.rename, (trace) => renamePage(trace))
  page(traceActions.delete, (trace) => deletePage(trace))

  const form = { auth: 'required', params: TraceParams } as const

  const setVisibility = (request: FastifyRequest, trace: TraceParams, visibility: Visibility) =>
    writeLocated(service, requireCaller(request), nameOf(trace), ({ id, writer }) =>
      writeTrace(service, request, id, patch(writer, { visibility })),
    )

  formRoute(
    app,
    { ...form, path: pathOf(traceActions.visibility), fields: { visibility: Visibility.or(Team) } },
    async (request) => {
      const { slug, externalId } = request.params as TraceParams
      const { visibility } = request.body
      if (!visibility.startsWith('@')) {
        await setVisibility(request, { slug, externalId }, visibility as Visibility)
        const path = tracePath(slug, externalId)
        return visibility === 'public' ? `${path}?published` : path
      }
      const to = visibility.slice(1)
      const { namespace, visibility: before } = await writable(request)
      if (to === namespace.slug) return tracePath(to, externalId)
      await moveForCaller(service, request, nameOf({ slug, externalId }), to)
      // Those who choose a team do not want others to read it.
      if (before === 'public') await setVisibility(request, { slug: to, externalId }, 'private')
      return tracePath(to, externalId)
    },
  )

  const renaming = { title: z.string(), was: z.string() }
  formRoute(app, { ...form, path: pathOf(traceActions.rename), fields: renaming }, async (request, reply) => {
    const { slug, externalId } = request.params as TraceParams
    const { was } = request.body
    const title = titleLine(request.body.title)
    const trace = await writable(request)
    const wrong = wrongWith(title)
    if (wrong !== undefined) return sendPage(reply.code(400), renamePage(trace, { title, wrong, was }))
    const late = (now: TraceDetail) => sendPage(reply.code(409), renamePage(now, { title, isLate: true }))
    if (title !== trace.title && was !== markOfTitle(trace)) return late(trace)
    try {
      await writeLocated(service, requireCaller(request), nameOf({ slug, externalId }), ({ id, writer }) =>
        writeTrace(service, request, id, rename(writer, title, trace.title)),
      )
    } catch (error) {
      if (!isChanged(error)) throw error
      return late(await writable(request))
    }
    return tracePath(slug, externalId)
  })

  formRoute(
    app,
    { ...form, path: pathOf(traceActions.delete), fields: { title: z.string() } },
    async (request, reply) => {
      const { slug, externalId } = request.params as TraceParams
      const trace = await writable(request)
      const { title } = request.body
      const wanted = [titleOfTrace(trace), titleToType(trace)].map(asTyped)
      if (!wanted.includes(asTyped(title))) return sendPage(reply.code(400), deletePage(trace, title))
      await removeTrace(service, request, nameOf({ slug, externalId }))
      return namespacePath(slug)
    },
  )
}
