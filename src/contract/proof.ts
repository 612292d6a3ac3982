import { z } from 'zod'
import { EXAMPLE_ID, count, id, text } from './fields.ts'
import { ofNamespace } from './namespaces.ts'
import { InNamespace, TraceKey, aRevision } from './parameters.ts'
import { type Api, data, other } from './route.ts'

const verifierKey = (description: string) =>
  text(description, 'tracebook.invalid/log+9b2f8a11+AZ0fN3v3x0cR0c0m3S1y9Qm7c1bq4rM7l2iJm7z0q8Wc')

const hashes = (description: string) => z.array(z.string()).meta({ description })

const LogKey = z.object({
  origin: text('The name of the log, as its checkpoints say', 'tracebook.invalid/log'),
  logId: id('the log, which stays the same under another name or key'),
  key: verifierKey('The key that signs now, in the form `<name>+<hash>+<base64>`'),
  keys: z
    .array(
      z.object({
        key: verifierKey('The key'),
        from: count('The size of the first checkpoint that it signed'),
        to: count('The size of the last checkpoint that it signed'),
      }),
    )
    .meta({ description: 'All keys that have signed checkpoints, the newest first' }),
})

const Consistency = z.object({
  from: count('The size of the older tree'),
  to: count('The size of the newer tree'),
  proof: hashes('The consistency proof: hashes in base64'),
})

export const EventProof = z.object({
  entry: text('The event as it is in the tree: the JSON of `[id, stream, type, metadata, data]`, all of them texts'),
  index: z.int().meta({ description: 'The number of its leaf, from 0', examples: [12] }),
  size: z.int().meta({ description: 'The size of the tree of the checkpoint', examples: [345] }),
  proof: hashes('The inclusion proof: hashes in base64, from the leaf upwards'),
  checkpoint: text('The signed checkpoint that the proof leads to'),
})
export type EventProof = z.infer<typeof EventProof>

/** The size of a tree, as digits. */
const aSize = (description: string) =>
  z
    .string()
    .regex(/^\d{1,15}$/, { error: 'must be a size: a whole number from 0 on' })
    .meta({ description, examples: ['0'] })
    .transform(Number)

const level = z.string().meta({ description: 'The level of the tile: 0 has the hashes of leaves', examples: ['0'] })
const index = z.string().meta({
  description:
    'The index of the tile in groups of three digits, all but the last with an `x`: tile 5 is `005`, tile 1234067 is ' +
    '`x001/x234/067`. Its slashes are sent as they are, or as `%2F`',
  examples: ['005'],
})
const width = z.string().meta({ description: 'How many hashes of it: 1 to 255', examples: ['8'] })

const hashTile = other(['application/octet-stream'], { 200: z.string().meta({ format: 'binary' }) })
const tileErrors = 'Entries are not served. Errors: `not_found` (404) for what the newest checkpoint does not cover.'

const revision = aRevision('The revision of the event in its stream', '3')
const eventErrors =
  'Errors: `not_found` (404) for what is not there or was erased, and with `Retry-After` for an event that no checkpoint ' +
  'covers yet'

/** The audit tree, for those with a session or, where the operator has said so, for everybody; and proofs of single events. */
export const audit = {
  'GET /v1/audit/checkpoint': {
    tag: 'audit',
    summary: 'The newest signed checkpoint of the log',
    description:
      'A signed note (C2SP `tlog-checkpoint`): origin, size and root of the Merkle tree over all events, at most 10 s ' +
      'behind the log. Errors: `not_found` (404) where the operator has set no key.',
    auth: 'required',
    answer: other(['text/plain'], { 200: z.string() }),
    errors: ['not_found'],
  },
  'GET /v1/audit/key': {
    tag: 'audit',
    summary: 'The key that signs the checkpoints',
    description:
      'In the verifier form of signed notes. `keys` are all that have signed, the newest first: what an older one has ' +
      'signed stays valid. Whoever checks the log should know its key from elsewhere, too. Errors: `not_found` (404).',
    auth: 'required',
    answer: data(LogKey),
    errors: ['not_found'],
  },
  'GET /v1/audit/tile/{level}/{index}': {
    tag: 'audit',
    summary: 'A full tile of hashes of the tree',
    description: `As in C2SP \`tlog-tiles\`: 256 hashes of 32 bytes. ${tileErrors}`,
    auth: 'required',
    path: { level, index },
    answer: hashTile,
    errors: ['not_found'],
  },
  'GET /v1/audit/tile/{level}/{index}.p/{width}': {
    id: 'getAuditPartialTile',
    tag: 'audit',
    summary: 'The beginning of a tile of hashes of the tree',
    description: `As in C2SP \`tlog-tiles\`, of a tile that is not full yet: \`width\` hashes of 32 bytes. ${tileErrors}`,
    auth: 'required',
    path: { level, index, width },
    answer: hashTile,
    errors: ['not_found'],
  },
  'GET /v1/audit/consistency': {
    tag: 'audit',
    summary: 'Proof that the tree of one size begins with the tree of another',
    description:
      'For those without a client for tiles (RFC 6962, section 2.1.2). Errors: `invalid_request` (400) where `from` is ' +
      'beyond `to`; `not_found` (404) for a size that the newest checkpoint does not cover.',
    auth: 'required',
    query: { from: aSize('The size of the older tree'), to: aSize('The size of the newer tree') },
    answer: data(Consistency),
    errors: ['not_found'],
  },
  'GET /v1/traces/{externalId}/events/{revision}/proof': {
    tag: 'audit',
    summary: 'Proof that an event of a trace is in the log',
    description:
      'For members of its namespace: the leaf of the event, and the way from there to a signed checkpoint. ' +
      `${eventErrors}; \`forbidden\` (403) for who is no member of a public trace’s namespace; \`unauthorized\` (401).`,
    auth: 'optional',
    path: { externalId: TraceKey, revision },
    query: { namespace: InNamespace.optional() },
    answer: data(EventProof),
    errors: ['unauthorized', 'forbidden', 'not_found'],
  },
  'GET /v1/namespaces/{slug}/events/{revision}/proof': {
    tag: 'audit',
    summary: 'Proof that an event of a namespace is in the log',
    description:
      'For its admins: of the namespace’s own events, such as who became a member. The entry is exact: that of an invite ' +
      'holds its code and its e-mail address, which admins see in the list of invites, too. ' +
      `${eventErrors}; \`forbidden\` (403) for everybody else.`,
    auth: 'required',
    path: { ...ofNamespace, revision },
    answer: data(EventProof),
    errors: ['not_found'],
  },
  'GET /v1/namespaces/{slug}/deletions/{traceId}/proof': {
    tag: 'audit',
    summary: 'Proof that the deletion of a trace is in the log',
    description:
      'For admins of the namespace that it was in: who deleted it, and when. ' +
      `${eventErrors}; \`forbidden\` (403) for everybody else.`,
    auth: 'required',
    path: {
      ...ofNamespace,
      traceId: z.string().meta({ description: 'The id of the deleted trace', examples: [EXAMPLE_ID] }),
    },
    answer: data(EventProof),
    errors: ['not_found'],
  },
} as const satisfies Api
