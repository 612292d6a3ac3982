import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Key } from '../contract/parameters.ts'
import { type TraceDetail, Visibility } from '../contract/trace.ts'
import { requireCaller } from '../http/caller.ts'
import { formRoute } from '../http/forms.ts'
import { invalid } from '../http/http-error.ts'
import { namespacePath, tracePath } from '../pages/links.ts'
import { type Page, sendPage } from '../pages/page.ts'
import { deletePage, titleOfTrace, traceActions, visibilityPage } from '../pages/trace-actions.ts'
import { patch, remove } from '../trace/decide.ts'
import { type TraceName, locateToRead, locateToWrite, writeLocated } from '../trace/locate.ts'
import { rowWithModelName } from '../trace/model-names.ts'
import type { TraceServices } from '../trace/services.ts'
import { writeTrace } from '../trace/upsert.ts'
import { detailText } from '../trace/views.ts'

const Params = z.object({ slug: Key, externalId: Key })
type Params = z.infer<typeof Params>

const pathOf = (name: string): string => `/@:slug/:externalId/-/${name}`
const nameOf = ({ slug, externalId }: Params): TraceName => ({ externalId, namespace: slug })

/** The pages on which a trace is made public, made private again, and deleted, and their forms. */
export const traceActionRoutes = (app: FastifyInstance, service: TraceServices): void => {
  /** @throws 404 for who may not read the trace, 403 for a member who may not write to it */
  const writable = async (request: FastifyRequest): Promise<TraceDetail> => {
    const caller = requireCaller(request)
    const name = nameOf(request.params as Params)
    await locateToWrite(service, caller, name)
    const { trace } = await locateToRead(service.reads, name, caller)
    return JSON.parse(detailText(rowWithModelName(service.models, trace))) as TraceDetail
  }

  const page = (name: string, pageOf: (trace: TraceDetail) => Page) =>
    app.get(
      pathOf(name),
      { config: { auth: 'required', htmlPage: true }, schema: { params: Params } },
      async (request, reply) => sendPage(reply, pageOf(await writable(request))),
    )
  page(traceActions.visibility, visibilityPage)
  page(traceActions.delete, deletePage)

  const form = { auth: 'required', params: Params } as const

  formRoute(
    app,
    { ...form, path: pathOf(traceActions.visibility), fields: { visibility: Visibility } },
    async (request) => {
      const { slug, externalId } = request.params as Params
      const { visibility } = request.body
      await writeLocated(service, requireCaller(request), nameOf({ slug, externalId }), ({ id, writer }) =>
        writeTrace(service, request, id, patch(writer, { visibility })),
      )
      return tracePath(slug, externalId)
    },
  )

  formRoute(app, { ...form, path: pathOf(traceActions.delete), fields: { title: z.string() } }, async (request) => {
    const { slug, externalId } = request.params as Params
    const trace = await writable(request)
    if (request.body.title.trim() !== titleOfTrace(trace).trim())
      throw invalid('title', `is not the title of this session: type \`${titleOfTrace(trace)}\` to delete it`)
    await writeLocated(service, requireCaller(request), nameOf({ slug, externalId }), ({ id, writer }) =>
      writeTrace(service, request, id, remove(writer)),
    )
    return namespacePath(slug)
  })
}
