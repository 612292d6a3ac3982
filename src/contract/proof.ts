import { z } from 'zod'
import { EXAMPLE_ID, count, id, text } from './fields.ts'
import { notAdmin, ofNamespace } from './namespaces.ts'
import { InNamespace, Key, TraceKey, aRevision } from './parameters.ts'
import { type Api, data, json, other } from './route.ts'
import { noTrace, notSignedIn, pastForMembers } from './traces.ts'

const verifierKey = (description: string) =>
  text(description, 'tracebook.invalid/log+9b2f8a11+AZ0fN3v3x0cR0c0m3S1y9Qm7c1bq4rM7l2iJm7z0q8Wc')

const hashes = (description: string) => z.array(z.string()).meta({ description })

const LogKey = z.object({
  origin: text('The name of the log in its checkpoints', 'tracebook.invalid/log'),
  logId: id('the log; it stays the same if the name or the key of the log changes'),
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
  entry: text('The event as the tree has it: the JSON array `[id, stream, type, metadata, data]` of five texts'),
  index: z.int().meta({ description: 'The number of the leaf of the event, from 0', examples: [12] }),
  size: z.int().meta({ description: 'The size of the tree of the checkpoint', examples: [345] }),
  proof: hashes('The inclusion proof: hashes in base64, from the leaf upwards'),
  checkpoint: text('The signed checkpoint that the proof leads to'),
})
export type EventProof = z.infer<typeof EventProof>

export const MOST_PROVEN_MESSAGES = 100
/** The most bytes of entries in one answer. */
export const MOST_PROOF_BYTES = 8 * 1024 * 1024

const areDistinct = (texts: readonly string[]): boolean => new Set(texts).size === texts.length

const MessagesToProve = z
  .object({
    messages: z
      .array(Key)
      .max(MOST_PROVEN_MESSAGES)
      .refine(areDistinct, { error: 'must have each message once' })
      .meta({
        description: `The \`externalId\` of each message, up to ${MOST_PROVEN_MESSAGES}. None: only the event that the trace begins with`,
        examples: [['message-1']],
      }),
    size: z
      .int()
      .min(0)
      .meta({
        description:
          'The size of the tree, as that of a checkpoint that you have. Default: that of the newest checkpoint',
        examples: [345],
      })
      .optional(),
  })
  .meta({ examples: [{ messages: ['message-1'] }] })

const { entry, index: leafIndex, proof, checkpoint, size: treeSize } = EventProof.shape

const ProvenEventOfTrace = z.object({
  revision: z.int().meta({ description: 'The revision of the event in its stream', examples: [3] }),
  type: text('The type of the event', 'MessageAdded'),
  message: text(
    'The `externalId` of the message that the event wrote. Absent for the first event',
    'message-1',
  ).optional(),
  index: leafIndex,
  entry,
  proof,
})
export type ProvenEventOfTrace = z.infer<typeof ProvenEventOfTrace>

const ProofOfMessages = z.object({
  size: treeSize.meta({ description: 'The size of the tree that all proofs lead to', examples: [345] }),
  checkpoint: checkpoint.meta({ description: 'The newest signed checkpoint. Absent if `size` was given' }).optional(),
  events: z.array(ProvenEventOfTrace).meta({
    description:
      'The event that the trace begins with, then the events that wrote the messages, in the order of the log',
  }),
})
export type ProofOfMessages = z.infer<typeof ProofOfMessages>

/** The size of a tree, as digits. */
const aSize = (description: string) =>
  z
    .string()
    .regex(/^\d{1,15}$/, { error: 'must be a size: a whole number of at least 0' })
    .meta({ description, examples: ['0'] })
    .transform(Number)

const level = z
  .string()
  .meta({ description: 'The level of the tile; level 0 has the hashes of leaves', examples: ['0'] })
const index = z.string().meta({
  description:
    'The index of the tile in groups of three digits, all but the last with a leading `x`: tile 5 is `005`, tile 1234067 is ' +
    '`x001/x234/067`. Slashes may be encoded as `%2F`',
  examples: ['005'],
})
const width = z.string().meta({ description: 'The number of hashes: 1 to 255', examples: ['8'] })

const hashTile = other(['application/octet-stream'], { 200: z.string().meta({ format: 'binary' }) })
const noKey = 'The operator has set no key, so there are no checkpoints. Ask the operator.'
const noTile =
  'The path does not name a tile, or the newest checkpoint does not cover the tile. Check the path, or wait for the next checkpoint.'

const revision = aRevision('The revision of the event in its stream', '3')
const notCovered =
  'Or no checkpoint covers the event yet: `Retry-After` then says after how many seconds to try again. Or the operator has set no key.'

const sizeNotCovered =
  'Or an event is not covered by a tree of this `size`, or by any checkpoint yet: `Retry-After` then says after how many seconds to try again. ' +
  'Or the operator has set no key.'

/** The audit tree, for callers with a session or, if the operator has chosen so, for everybody; and proofs of events. */
export const audit = {
  'GET /v1/audit/checkpoint': {
    tag: 'audit',
    summary: 'Read the newest signed checkpoint of the log',
    description:
      'A signed note (C2SP `tlog-checkpoint`) with the origin, the size and the root of the Merkle tree over all events. It is at most ' +
      '10 seconds behind the log.',
    auth: 'required',
    answer: other(['text/plain'], { 200: z.string() }),
    errors: { not_found: noKey },
  },
  'GET /v1/audit/key': {
    tag: 'audit',
    summary: 'Read the key that signs the checkpoints',
    description:
      'The key is in the verifier form of signed notes. `keys` lists all keys that have signed checkpoints, the newest first; what an ' +
      'older key has signed stays valid. To check the log, compare the key with one that you have from another source.',
    auth: 'required',
    answer: data(LogKey),
    errors: { not_found: noKey },
  },
  'GET /v1/audit/tile/{level}/{index}': {
    tag: 'audit',
    summary: 'Read a full tile of hashes of the tree',
    description: 'A tile of C2SP `tlog-tiles`: 256 hashes of 32 bytes. Entries are not served.',
    auth: 'required',
    path: { level, index },
    answer: hashTile,
    errors: { not_found: noTile },
  },
  'GET /v1/audit/tile/{level}/{index}.p/{width}': {
    id: 'getAuditPartialTile',
    tag: 'audit',
    summary: 'Read the first hashes of a tile of the tree',
    description:
      'The first `width` hashes, of 32 bytes each, of a tile of C2SP `tlog-tiles` that is not full yet. Entries are not served.',
    auth: 'required',
    path: { level, index, width },
    answer: hashTile,
    errors: { not_found: noTile },
  },
  'GET /v1/audit/consistency': {
    tag: 'audit',
    summary: 'Prove that the tree of one size begins with the tree of another size',
    description: 'For clients that do not read tiles (RFC 6962, section 2.1.2).',
    auth: 'required',
    query: { from: aSize('The size of the older tree'), to: aSize('The size of the newer tree') },
    answer: data(Consistency),
    errors: {
      invalid_request:
        '`from` or `to` is missing or not a whole number, or `from` is greater than `to`. Give the smaller size as `from`.',
      not_found: 'The newest checkpoint does not cover this size, or the operator has set no key. Give a smaller size.',
    },
  },
  'GET /v1/traces/{externalId}/events/{revision}/proof': {
    tag: 'audit',
    summary: 'Prove that an event of a trace is in the log',
    description:
      'For members of the namespace of the trace. The answer has the event, its leaf, and the hashes from the leaf to a signed checkpoint.',
    auth: 'optional',
    path: { externalId: TraceKey, revision },
    query: { namespace: InNamespace.optional() },
    answer: data(EventProof),
    errors: {
      unauthorized: notSignedIn,
      forbidden: pastForMembers,
      not_found: `${noTrace} Or the trace has no event with this revision, or the event was erased. ${notCovered}`,
    },
  },
  'POST /v1/traces/{externalId}/proofs': {
    tag: 'audit',
    summary: 'Prove what the log has of some messages of a trace',
    description:
      'For members of the namespace of the trace; changes nothing. The answer has the event that the trace begins with now (`TraceCreated`, or ' +
      '`HistoryErased` after an erasure of its past), then every event that wrote one of the messages. All proofs lead to one tree: that of ' +
      'the newest checkpoint, or that of `size`.',
    auth: 'optional',
    path: { externalId: TraceKey },
    query: { namespace: InNamespace.optional() },
    body: json(MessagesToProve),
    answer: data(ProofOfMessages),
    errors: {
      invalid_request:
        'The body is not as described, names a message twice, or the events of the messages have more than 8 MiB of entries. Ask for fewer messages.',
      unauthorized: notSignedIn,
      forbidden: pastForMembers,
      not_found: `${noTrace} Or the trace has no message with one of the ids, or the events of one were erased. ${sizeNotCovered}`,
    },
  },
  'GET /v1/namespaces/{slug}/events/{revision}/proof': {
    tag: 'audit',
    summary: 'Prove that an event of the namespace itself is in the log, as an admin',
    description:
      'For the events of the namespace itself, such as a user becoming a member. The entry is exact: that of an invite has the code and ' +
      'the e-mail address of the invite, which admins see in the list of invites, too.',
    auth: 'required',
    path: { ...ofNamespace, revision },
    answer: data(EventProof),
    errors: {
      forbidden: notAdmin,
      not_found: `No namespace has this slug, or it has no event with this revision. Check both. ${notCovered}`,
    },
  },
  'GET /v1/namespaces/{slug}/deletions/{traceId}/proof': {
    tag: 'audit',
    summary: 'Prove that the deletion of a trace is in the log, as an admin',
    description: 'The proof is for the event of the last deletion, which says who deleted the trace, and when.',
    auth: 'required',
    path: {
      ...ofNamespace,
      traceId: z.string().meta({ description: 'The id of the deleted trace', examples: [EXAMPLE_ID] }),
    },
    answer: data(EventProof),
    errors: {
      forbidden: notAdmin,
      not_found: `No namespace has this slug, or no trace with this id was deleted from it. Check both. ${notCovered}`,
    },
  },
} as const satisfies Api
