import { z } from 'zod'
import { EXAMPLE_SLUG, id, text } from './fields.ts'
import { Key, LongText, ShortText, Slug } from './parameters.ts'
import { type Api, bytes, data, json, other } from './route.ts'

export const Role = z.enum(['admin', 'member']).meta({
  id: 'Role',
  description:
    'The role in a namespace: a member writes traces of its own; an admin writes all, and manages the namespace',
})
export type Role = z.infer<typeof Role>

export const NamespaceType = z
  .enum(['individual', 'org'])
  .meta({ id: 'NamespaceType', description: 'Whether the namespace is one person’s or an organisation’s' })
export type NamespaceType = z.infer<typeof NamespaceType>

/** After how many days without a change traces may be deleted: at most about a hundred years. */
export const RetentionDays = z.int().min(1).max(36_500)

/** How a namespace is called, in all answers that name one. */
export const namespaceNames = {
  slug: text('The name of the namespace in addresses, unique in the service', EXAMPLE_SLUG),
  displayName: text('The name of the namespace', 'My team'),
}
export const avatarUrl = text('The path of the picture on this service; absent without one').optional()

/** A namespace in an answer. `role` is that of the caller, for members only. */
export const NamespaceView = z
  .object({
    id: id('the namespace'),
    ...namespaceNames,
    description: text('What the namespace is for').optional(),
    type: NamespaceType,
    role: Role.meta({ description: 'The role of the caller; absent for one who is no member' }).optional(),
    retentionDays: RetentionDays.meta({
      description:
        'Traces that have not changed for so many days are deleted; absent: they are kept for ever. For members only',
      examples: [365],
    }).optional(),
    avatarUrl,
  })
  .meta({ id: 'Namespace', description: 'A namespace: the owner of traces' })
export type NamespaceView = z.infer<typeof NamespaceView>

/** A namespace in an answer to one of its members. */
export const NamespaceInfo = NamespaceView.extend({ role: Role }).meta({
  id: 'NamespaceInfo',
  description: 'A namespace as one of its members sees it, with the role of that member',
})
export type NamespaceInfo = z.infer<typeof NamespaceInfo>

const displayName = { description: 'The name that people see', examples: ['My team'] }
const description = { description: 'What the namespace is for', examples: ['All that we did together'] }

const NamespaceCreate = z
  .object({
    slug: Key.meta({
      description:
        'The name in addresses, unique in the service: 1 to 64 letters, digits and single hyphens between them',
      examples: [EXAMPLE_SLUG],
    }),
    displayName: ShortText.min(1).meta(displayName),
    description: LongText.meta(description).optional(),
    type: NamespaceType.meta({ description: 'One person’s or an organisation’s. Default: `org`' }).optional(),
  })
  .meta({
    id: 'NamespaceCreate',
    description: 'A new namespace',
    examples: [{ slug: EXAMPLE_SLUG, displayName: 'My team' }],
  })

const NamespaceUpdate = z
  .object({
    displayName: ShortText.meta(displayName).optional(),
    description: LongText.meta(description).optional(),
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

/** The path of a route of one namespace. */
export const ofNamespace = { slug: Slug }

const PICTURES = ['image/png', 'image/jpeg', 'image/webp'] as const

/** Namespaces and their pictures. */
export const namespaces = {
  'GET /v1/namespaces': {
    tag: 'namespaces',
    summary: 'List the namespaces that you are a member of',
    description: 'With your role in each.',
    auth: 'required',
    answer: data(z.object({ namespaces: z.array(NamespaceInfo).meta({ description: 'Your namespaces' }) })),
  },
  'POST /v1/namespaces': {
    tag: 'namespaces',
    summary: 'Create a namespace and become its admin',
    description:
      'The slug is trimmed and lower-cased; it cannot be changed later. Errors: `invalid_request` (400) for a slug ' +
      'that is taken (also by yourself, so a repetition fails), reserved, or not 1 to 64 letters, digits and single ' +
      'hyphens.',
    auth: 'required',
    body: json(NamespaceCreate),
    answer: data(z.object({ namespace: NamespaceInfo })),
  },
  'GET /v1/namespaces/{slug}': {
    tag: 'namespaces',
    summary: 'Read a namespace',
    description: 'Anybody may read it; a member also gets their `role`. Errors: `not_found` (404).',
    auth: 'optional',
    path: ofNamespace,
    answer: data(z.object({ namespace: NamespaceView })),
    errors: ['not_found'],
  },
  'PATCH /v1/namespaces/{slug}': {
    tag: 'namespaces',
    summary: 'Change a namespace, as an admin',
    description:
      'What is not given stays; the same again changes nothing. The slug cannot be changed. `retentionDays` takes ' +
      'effect within about a minute. Errors: `forbidden` (403) for who is no admin; `not_found` (404).',
    auth: 'required',
    path: ofNamespace,
    body: json(NamespaceUpdate),
    answer: data(z.object({ namespace: NamespaceView })),
    errors: ['not_found'],
  },
  'PUT /v1/namespaces/{slug}/avatar': {
    tag: 'namespaces',
    summary: 'Upload the avatar, as an admin: PNG, JPEG or WebP of at most 512 KiB and 4,096 pixels a side',
    description:
      'Replaces the avatar that was there. What counts is the content of the body, not its content type. Errors: ' +
      '`invalid_request` (400) for what is no such picture; `forbidden` (403) for who is no admin; `quota_exceeded` ' +
      '(403) where the operator limits them; `not_found` (404); `payload_too_large` (413).',
    auth: 'required',
    path: ofNamespace,
    body: bytes(...PICTURES),
    answer: data(z.object({ namespace: NamespaceInfo })),
    errors: ['not_found'],
  },
  'GET /v1/namespaces/{slug}/avatar': {
    tag: 'namespaces',
    summary: 'The avatar as a picture',
    description:
      'Anybody may see it. `avatarUrl` of a namespace is this address with `v`, which caches may keep for ever. ' +
      'Errors: `not_found` (404) without namespace or avatar.',
    auth: 'none',
    path: ofNamespace,
    query: { v: z.string().meta({ description: 'The version of the picture, for caches' }).optional() },
    answer: other(PICTURES, { 200: z.string().meta({ format: 'binary' }), 304: z.null() }),
    errors: ['not_found'],
  },
} as const satisfies Api
