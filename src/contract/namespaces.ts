import { z } from 'zod'
import { EXAMPLE_SLUG, id, text } from './fields.ts'
import { Key, LongText, ShortText, Slug } from './parameters.ts'
import { type Api, bytes, data, json, other } from './route.ts'

export const Role = z.enum(['admin', 'member']).meta({
  id: 'Role',
  description:
    'The role in a namespace: a `member` writes traces and changes their own; an `admin` changes all traces and manages the namespace',
})
export type Role = z.infer<typeof Role>

export const NamespaceType = z.enum(['individual', 'org']).meta({
  id: 'NamespaceType',
  description: '`individual`: the namespace of one person; `org`: the namespace of a team',
})
export type NamespaceType = z.infer<typeof NamespaceType>

/** After how many days without a change traces are deleted; at most about a hundred years. */
export const RetentionDays = z.int().min(1).max(36_500)

/** The names of a namespace, in all answers that mention one. */
export const namespaceNames = {
  slug: text('The name of the namespace in URLs, unique on this service', EXAMPLE_SLUG),
  displayName: text('The name of the namespace', 'My team'),
}
export const avatarUrl = text('The path of the avatar on this service; absent if there is none').optional()

/** A namespace in an answer. `role` is that of the caller, for members only. */
export const NamespaceView = z
  .object({
    id: id('the namespace'),
    ...namespaceNames,
    description: text('What the namespace is for').optional(),
    type: NamespaceType,
    role: Role.meta({ description: 'Your role in the namespace; absent if you are not a member' }).optional(),
    retentionDays: RetentionDays.meta({
      description:
        'After how many days without a change the service deletes a trace; absent: never. Only members see it',
      examples: [365],
    }).optional(),
    avatarUrl,
  })
  .meta({ id: 'Namespace', description: 'A namespace: a person or a team that owns traces' })
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
        'The name in URLs, unique on this service: 1 to 64 letters and digits, with single hyphens between them',
      examples: [EXAMPLE_SLUG],
    }),
    displayName: ShortText.min(1).meta(displayName),
    description: LongText.meta(description).optional(),
    type: NamespaceType.meta({
      description: '`individual`: for one person; `org`: for a team. Default: `org`',
    }).optional(),
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
          'After how many days without a change the service deletes and erases a trace; `null`: never, which is also the value ' +
          'of a new namespace',
        examples: [365],
      })
      .optional(),
  })
  .meta({
    id: 'NamespaceUpdate',
    description: 'The fields of the namespace that change',
    examples: [{ description: 'All that we did together' }],
  })

/** The path of a route of one namespace. */
export const ofNamespace = { slug: Slug }

/** Errors of routes of one namespace. */
export const noNamespace = 'No namespace has this slug. Check the slug.'
export const notMember = 'You are not a member of the namespace. Ask one of its admins for an invite.'
export const notAdmin = 'You are not an admin of the namespace. Ask one of its admins to do it.'

const PICTURES = ['image/png', 'image/jpeg', 'image/webp'] as const

/** Namespaces and their pictures. */
export const namespaces = {
  'GET /v1/namespaces': {
    tag: 'namespaces',
    summary: 'List the namespaces that you are a member of',
    description: 'Each namespace comes with your role in it. The namespace that you joined first comes first.',
    auth: 'required',
    answer: data(z.object({ namespaces: z.array(NamespaceInfo).meta({ description: 'Your namespaces' }) })),
  },
  'POST /v1/namespaces': {
    tag: 'namespaces',
    summary: 'Create a namespace and become its admin',
    description:
      'The service trims the slug and converts it to lower case. The slug of a namespace cannot be changed later.',
    auth: 'required',
    body: json(NamespaceCreate),
    answer: data(z.object({ namespace: NamespaceInfo })),
    errors: {
      invalid_request:
        'A field of the body is missing or not valid. Or the slug is taken (by your own namespace too, so repeating the request ' +
        'fails), reserved, or not 1 to 64 letters, digits and single hyphens. Choose another slug.',
    },
  },
  'GET /v1/namespaces/{slug}': {
    tag: 'namespaces',
    summary: 'Read a namespace',
    description: 'Anybody may read a namespace. Members also get their `role` and `retentionDays`.',
    auth: 'optional',
    path: ofNamespace,
    answer: data(z.object({ namespace: NamespaceView })),
    errors: { not_found: noNamespace },
  },
  'PATCH /v1/namespaces/{slug}': {
    tag: 'namespaces',
    summary: 'Change a namespace, as an admin',
    description:
      'Fields that the body does not have keep their values; sending the current value changes nothing. The slug cannot be changed. ' +
      'A new value of `retentionDays` takes effect within about a minute.',
    auth: 'required',
    path: ofNamespace,
    body: json(NamespaceUpdate),
    answer: data(z.object({ namespace: NamespaceView })),
    errors: { forbidden: notAdmin, not_found: noNamespace },
  },
  'PUT /v1/namespaces/{slug}/avatar': {
    tag: 'namespaces',
    summary: 'Upload the avatar, as an admin: PNG, JPEG or WebP, at most 512 KiB and 4,096 pixels a side',
    description:
      'The new avatar replaces the old one. The service detects the type of the picture from its bytes and ignores the content type.',
    auth: 'required',
    path: ofNamespace,
    body: bytes(...PICTURES),
    answer: data(z.object({ namespace: NamespaceInfo })),
    errors: {
      invalid_request: 'The body is not a PNG, JPEG or WebP picture of at most 4,096 pixels a side. Send one that is.',
      forbidden: notAdmin,
      quota_exceeded:
        'The avatars that the namespace has replaced within the last hour and the new one exceed the limit of the operator. Wait an ' +
        'hour, or send a smaller picture.',
      not_found: noNamespace,
      payload_too_large: 'The picture is larger than 512 KiB, or than the limit of the operator. Send a smaller one.',
    },
  },
  'GET /v1/namespaces/{slug}/avatar': {
    tag: 'namespaces',
    summary: 'Get the avatar as a picture',
    description:
      'Anybody may see it. `avatarUrl` of a namespace is this address with the parameter `v`; caches may keep that answer for ever.',
    auth: 'none',
    path: ofNamespace,
    query: { v: z.string().meta({ description: 'The version of the picture, for caches' }).optional() },
    answer: other(PICTURES, { 200: z.string().meta({ format: 'binary' }), 304: z.null() }),
    errors: { not_found: 'No namespace has this slug, or the namespace has no avatar. Check the slug.' },
  },
} as const satisfies Api
