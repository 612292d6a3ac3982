import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { namespaces } from '../../contract/namespaces.ts'
import { namespaceId } from '../../base/ids.ts'
import { toHttpError } from '../http/errors.ts'
import { formRoute } from '../http/forms.ts'
import type { Details } from '../http/http-error.ts'
import { isTaken } from '../namespace/queries.ts'
import { makeNamespace } from '../namespace/routes.ts'
import type { NamespaceServices } from '../namespace/services.ts'
import { SLUG_TAKEN, normalizeSlug, problemOfSlug } from '../namespace/slug.ts'
import { NEW_NAMESPACE, beneathNamespace } from '../pages/links.ts'
import { memberPages } from '../pages/members.ts'
import { SLUG_CHECK, newNamespacePage } from '../pages/new-namespace.ts'
import { sendPage } from '../pages/page.ts'

const Name = namespaces['POST /v1/namespaces'].body.schema.shape.displayName

const SlugQuery = z.object({ slug: z.string().max(1_000) })

/** What is wrong with a slug, as a sentence about it. */
const aboutSlug = (slug: string, problem: string | undefined): string | undefined =>
  problem === undefined ? undefined : `@${slug} ${problem}.`

/** `GET /new` with its form, and the check of a slug while it is typed. */
export const newNamespaceRoute = (app: FastifyInstance, service: NamespaceServices): void => {
  app.get(NEW_NAMESPACE, { config: { auth: 'required', htmlPage: true } }, async (_request, reply) =>
    sendPage(reply, newNamespacePage()),
  )

  // Not `GET /v1/namespaces/{slug}`: that one knows no namespace with a reserved slug, and so would call it free.
  app.get<{ Querystring: z.infer<typeof SlugQuery> }>(
    SLUG_CHECK,
    { config: { auth: 'required', htmlPage: true }, schema: { querystring: SlugQuery } },
    async ({ query }, reply) => {
      const slug = query.slug.trim()
      const taken = async () =>
        (await isTaken(service.reads, namespaceId(normalizeSlug(slug)!))) ? SLUG_TAKEN : undefined
      const problem = problemOfSlug(slug) ?? (await taken())
      return reply
        .header('cache-control', 'no-store')
        .type('text/plain; charset=utf-8')
        .send(aboutSlug(slug, problem) ?? '')
    },
  )

  const fields = { displayName: z.string(), slug: z.string() }
  formRoute(app, { auth: 'required', path: NEW_NAMESPACE, fields }, async (request, reply) => {
    const [displayName, slug] = [request.body.displayName.trim(), request.body.slug.trim()]
    const wrongName = Name.safeParse(displayName).error?.issues[0]
    const refuse = (problem: string | undefined) => {
      const name = wrongName && (displayName === '' ? 'A namespace needs a name.' : `The name ${wrongName.message}.`)
      const wrong = { displayName: name, slug: aboutSlug(slug, problem) }
      return sendPage(reply.code(400), newNamespacePage({ displayName, slug, wrong }))
    }
    if (wrongName) return refuse(problemOfSlug(slug))
    try {
      const { slug: made } = await makeNamespace(service, request, { displayName, slug })
      return `${beneathNamespace(made, memberPages.list)}?saved=created`
    } catch (error) {
      const { code, details } = toHttpError(error)
      const problem = code === 'invalid_request' ? (details as Details).fieldErrors['slug']?.[0] : undefined
      if (problem === undefined) throw error
      return refuse(problem)
    }
  })
}
