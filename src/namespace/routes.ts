import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { contextOf, requireCaller } from '../http/caller.ts'
import { invalid } from '../http/http-error.ts'
import { pickDefined } from '../http/pick-defined.ts'
import { Key, LongText, ShortText } from '../contract/parameters.ts'
import { answers, ok } from '../http/reply.ts'
import { namespaceId } from '../ids.ts'
import { type DecideNamespace, type Namespace, createNamespace, presentNamespace, updateNamespace } from './decide.ts'
import { NamespaceType, RetentionDays } from './events.ts'
import { idOfSlug, namespaceById, namespacesOf } from './queries.ts'
import { isReserved, normalizeSlug } from './slug.ts'
import { NamespaceInfo, NamespaceView, toNamespaceView } from './views.ts'
import type { NamespaceServices } from './services.ts'

const fieldMeta = {
  displayName: { description: 'The name that people see', examples: ['My team'] },
  description: { description: 'What the namespace is for', examples: ['All that we did together'] },
}

const Create = z
  .object({
    slug: Key.meta({
      description:
        'The name in addresses, unique in the service: 1 to 64 letters, digits and single hyphens between them',
      examples: ['my-team'],
    }),
    displayName: ShortText.min(1).meta(fieldMeta.displayName),
    description: LongText.meta(fieldMeta.description).optional(),
    type: NamespaceType.meta({ description: 'One person’s or an organisation’s. Default: `org`' }).optional(),
  })
  .meta({
    id: 'NamespaceCreate',
    description: 'A new namespace',
    examples: [{ slug: 'my-team', displayName: 'My team' }],
  })
type Create = z.infer<typeof Create>

const Update = z
  .object({
    displayName: ShortText.meta(fieldMeta.displayName).optional(),
    description: LongText.meta(fieldMeta.description).optional(),
    retentionDays: RetentionDays.nullable()
      .meta({
        description:
          'Traces that have not changed for so many days are deleted, and erased, by the service; `null`: they are kept ' +
          'for ever, as without it',
        examples: [365],
      })
      .optional(),
  })
  .meta({
    id: 'NamespaceUpdate',
    description: 'What changes of the namespace',
    examples: [{ description: 'All that we did together' }],
  })
type Update = z.infer<typeof Update>

const Params = z.object({ slug: Key })
type Params = z.infer<typeof Params>

const tags = ['namespaces']

/** The normalized slug of a new namespace. @throws 400 for one that is reserved or not well formed */
const newSlug = (text: string): string => {
  const slug = normalizeSlug(text)
  if (slug === undefined) throw invalid('slug', 'must be 1 to 64 letters, digits and single hyphens, none at the ends')
  if (isReserved(slug)) throw invalid('slug', 'is reserved')
  return slug
}

/** Routes to list, create, read and change namespaces. */
export const namespaceRoutes = (app: FastifyInstance, service: NamespaceServices): void => {
  const { reads, namespaces, write } = service

  /** Writes to a namespace. Returns the namespace after the write, as the caller sees it. */
  const writeNamespace = (request: FastifyRequest, id: string, decide: DecideNamespace) => {
    const { userId } = requireCaller(request)
    const answer = (state: Namespace) => toNamespaceView(id, presentNamespace(state), userId)
    return write(namespaces, id, { decide, answer }, contextOf(request))
  }

  app.get(
    '/v1/namespaces',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'List the namespaces that you are a member of',
        description: 'With your role in each.',
        tags,
        response: answers(z.object({ namespaces: z.array(NamespaceInfo).meta({ description: 'Your namespaces' }) })),
      },
    },
    async (request, reply) => ok(reply, { namespaces: await namespacesOf(reads, requireCaller(request).userId) }),
  )

  app.post<{ Body: Create }>(
    '/v1/namespaces',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Create a namespace and become its admin',
        description:
          'The slug is trimmed and lower-cased; it cannot be changed later. Errors: `invalid_request` (400) for a slug ' +
          'that is taken (also by yourself, so a repetition fails), reserved, or not 1 to 64 letters, digits and single ' +
          'hyphens.',
        tags,
        body: Create,
        response: answers(z.object({ namespace: NamespaceInfo })),
      },
    },
    async (request, reply) => {
      const { displayName, type = 'org' } = request.body
      const slug = newSlug(request.body.slug)
      const described = pickDefined(request.body, ['description'])
      const terms = { slug, displayName, ...described, type, createdBy: requireCaller(request).userId }
      return ok(reply, { namespace: await writeNamespace(request, namespaceId(slug), createNamespace(terms)) })
    },
  )

  app.get<{ Params: Params }>(
    '/v1/namespaces/:slug',
    {
      config: { auth: 'optional' },
      schema: {
        summary: 'Read a namespace',
        description: 'Anybody may read it; a member also gets their `role`. Errors: `not_found` (404).',
        tags,
        params: Params,
        response: answers(z.object({ namespace: NamespaceView }), 404),
      },
    },
    async ({ params, caller }, reply) =>
      ok(reply, { namespace: await namespaceById(reads, idOfSlug(params.slug), caller?.userId) }),
  )

  app.patch<{ Params: Params; Body: Update }>(
    '/v1/namespaces/:slug',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Change a namespace, as an admin',
        description:
          'What is not given stays; the same again changes nothing. The slug cannot be changed. `retentionDays` takes ' +
          'effect within about a minute. Errors: `forbidden` (403) for who is no admin; `not_found` (404).',
        tags,
        params: Params,
        body: Update,
        response: answers(z.object({ namespace: NamespaceView }), 404),
      },
    },
    async (request, reply) => {
      const change = pickDefined(request.body, ['displayName', 'description', 'retentionDays'])
      const decide = updateNamespace(requireCaller(request).userId, change)
      return ok(reply, { namespace: await writeNamespace(request, idOfSlug(request.params.slug), decide) })
    },
  )
}
