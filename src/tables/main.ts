import type { NamespaceType, Role } from '../contract/namespaces.ts'
import { MOST_AHEAD_MS } from '../base/time-ahead.ts'
import type { Visibility } from '../contract/trace.ts'
import { type RequiredName, type TextName, isRequired, textNames } from '../contract/trace-texts.ts'
import type { IdentityType } from '../contract/user.ts'
import { erasedFrom, listedFrom, rewritten } from './storage.ts'
import { type RowOf, tableOf } from './table.ts'
import type { copiedAnswersTable, failedCallsTable, usageTable, usageToolsTable } from './usage.ts'
import type { usageDaysTable } from './usage-days.ts'

/**
 * The tables of the main group, with the types of their rows and the SQL that indexes and queries share.
 * Columns of type json have JSON text; free texts are JSON string literals, because PostgreSQL text can store neither NUL nor lone surrogates.
 */

export const usersTable = tableOf('users', { id: 'uuid primary key', display_name: 'json' })

/** `first_id` is the id of the first identity with the same key; later ones, after a removal, have the same `first_id`. */
export const identitiesTable = tableOf('identities', {
  id: 'uuid primary key',
  first_id: 'uuid not null',
  user_id: 'uuid not null',
  type: 'text collate "C" not null',
  provider_data: 'json',
  email: 'json',
  email_verified: 'bool',
  name: 'json',
  created_at: 'int8 not null',
})

/** Identities that were removed from their users; their rows in `identities` stay. */
export const removedIdentitiesTable = tableOf('removed_identities', {
  id: 'uuid primary key',
  user_id: 'uuid not null',
})

/** `namespace_id` is the namespace that the session was switched to. */
export const sessionsTable = tableOf('sessions', {
  id: 'uuid primary key',
  user_id: 'uuid not null',
  identity_id: 'uuid not null',
  token_hash: 'text collate "C" not null',
  namespace_id: 'uuid',
  parent_session_id: 'uuid',
  device_name: 'json',
  created_at: 'int8 not null',
  expires_at: 'int8',
  revoked_at: 'int8',
})

/** `retention_days` is null where traces are kept for ever. */
export const namespacesTable = tableOf('namespaces', {
  id: 'uuid primary key',
  slug: 'text collate "C" not null',
  display_name: 'json not null',
  description: 'json',
  type: 'text collate "C" not null',
  claimed_by: 'text collate "C" not null',
  avatar_storage_id: 'text collate "C"',
  created_by: 'uuid not null',
  created_at: 'int8 not null',
  retention_days: 'int4',
})

export const membersTable = tableOf(
  'members',
  {
    namespace_id: 'uuid not null',
    user_id: 'uuid not null',
    role: 'text collate "C" not null',
    invited_by: 'uuid',
    joined_at: 'int8 not null',
  },
  { constraint: 'primary key (namespace_id, user_id)' },
)

/** `accepted_at` and `accepted_by` are those of the first use. */
export const invitesTable = tableOf(
  'invites',
  {
    namespace_id: 'uuid not null',
    code: 'text collate "C" not null',
    role: 'text collate "C" not null',
    invited_by: 'uuid not null',
    email: 'json',
    max_uses: 'int8',
    use_count: 'int8 not null default 0',
    created_at: 'int8 not null',
    expires_at: 'int8 not null',
    revoked_at: 'int8',
    accepted_at: 'int8',
    accepted_by: 'uuid',
  },
  { constraint: 'primary key (namespace_id, code)' },
)

/** How many traces a namespace has, and the sum of their `bytes`. A namespace without traces has no row. */
export const sizesTable = tableOf(
  'sizes',
  { namespace_id: 'uuid primary key', traces: 'int8 not null', bytes: 'int8 not null' },
  { storage: `fillfactor = 50, ${rewritten}` },
)

type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Tail>}`
  : Name

/** The columns of the texts of a trace that clients send (`src/contract/trace-texts.ts`). */
export const columnOf = Object.fromEntries(
  textNames.map((name) => [name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
) as { readonly [Name in TextName]: SnakeCase<Name> }

/** These columns with their types. */
export const textColumns = Object.fromEntries(
  textNames.map((name) => [columnOf[name], isRequired(name) ? 'json not null' : 'json']),
) as { readonly [Name in TextName as SnakeCase<Name>]: Name extends RequiredName ? 'json not null' : 'json' }

const DAY_MS = 86_400_000
/** The resolution of the index by `updatedAt`: while a trace is being written, its index entry changes at most this often. */
export const SLOT_MS = 600_000

export const tracesTable = tableOf(
  'traces',
  {
    id: 'uuid primary key',
    namespace_id: 'uuid not null',
    external_id: 'text collate "C" not null',
    key: 'uuid not null',
    created_by: 'uuid not null',
    created_at: 'int8 not null',
    updated_at: 'int8 not null',
    updated_slot: `int8 not null generated always as (updated_at / ${SLOT_MS}) stored`,
    updated_day: `int8 not null generated always as (updated_at / ${DAY_MS}) stored`,
    visibility: 'text collate "C" not null',
    ...textColumns,
    parent_key: 'uuid',
    started_at: 'float8',
    ended_at: 'float8',
    ai_title: 'json',
    ai_summary: 'json',
    summary_message_count: 'int8',
    bytes: 'int8 not null',
    incarnation: 'int8 not null',
    erased: 'int8',
    revision: 'int8 not null',
    at: 'int8 not null',
  },
  { storage: `fillfactor = 70, ${rewritten}` },
)

/**
 * SQL for the time of a trace in lists by its start: that of its first message, or of its creation if no message has a timestamp, or if the first one
 * is too far ahead.
 */
export const STARTED = `(case when started_at <= created_at + ${MOST_AHEAD_MS} then started_at else created_at::float8 end)`

const hashed = (seed: number) => (namespaceId: string) => `uuid_hash_extended(${namespaceId}, ${seed})`

/** SQL for the hash of a namespace in the index of a list. Each index has its own hash, so that no plan uses another index. */
export const listedBy = {
  startedAt: hashed(1),
  publicStartedAt: hashed(2),
  updatedAt: hashed(3),
  publicUpdatedAt: hashed(4),
  parent: hashed(5),
  publicParent: hashed(6),
} as const

/** The same of a namespace and an author, for the list of an author's traces by their start. */
export const listedByAuthor = (namespaceId: string, author: string) =>
  `uuid_hash_extended(${author}, ${hashed(7)(namespaceId)})`

/** SQL for the id of a trace in these indexes. */
export const ID_TEXT = `(id::text collate "C")`

/** The newest deletion of each trace that was ever deleted; `deletions` has earlier ones as well. */
export const tombstonesTable = tableOf('trace_tombstones', {
  id: 'uuid primary key',
  revision: 'int8 not null',
  at: 'int8 not null',
  deletions: 'json not null',
  /** What is being moved here, while it is. */
  arriving: 'json',
})

export const feedTable = tableOf(
  'feed',
  {
    id: 'uuid primary key',
    namespace_id: 'uuid not null',
    created_at: 'int8 not null',
    visibility: 'text collate "C" not null',
  },
  { storage: listedFrom },
)

/** `message_types` and `tool_types` are objects with a count for each key (those of tools: `tool-counts.ts`); `shape` is a `SessionShape`. */
export const countsTable = tableOf(
  'counts',
  {
    trace_id: 'uuid primary key',
    message_count: 'int8 not null',
    message_types: 'json not null',
    tool_types: 'json not null',
    shape: 'json',
  },
  { storage: `fillfactor = 70, ${rewritten}` },
)

/**
 * `ordinal` counts a trace's messages as they arrived. `incarnation` is that of the trace: rows of an earlier incarnation stay
 * until they are swept, and must not be shown. `added` and `revision` are the revisions of the first and the last event of the
 * message. `text_head` and `parts_head` are lines of `src/server/trace/messages/heads.ts`; `part_count` and `parts_length` belong to the head of
 * the parts.
 * `block` is the revision of a row in `message_blocks`; in its body the heads of the original parts begin at `heads_at`, their texts
 * are from `parts_at` to `parts_end`. Parts that have changed since are in `message_parts`. `facts` is a line of
 * `src/server/trace/messages/facts.ts` for the original parts.
 * A message with usage has in `prices` the position of the last change of the model registry before that was written, or 0. `answer` is the hash
 * of the answer of a provider (`usage.ts`): only the first message of a trace with this answer has one, a later one counts nowhere.
 */
export const messagesTable = tableOf(
  'messages',
  {
    trace_id: 'uuid not null',
    incarnation: 'int8 not null',
    ordinal: 'int4 not null',
    id: 'uuid not null',
    external_id: 'text collate "C" not null',
    role: 'text collate "C" not null',
    text_content: 'text collate "C"', // a JSON string literal; PostgreSQL would parse json once more
    model: 'json',
    sequence: 'float8',
    timestamp: 'float8',
    usage: 'json',
    class: 'text collate "C" not null',
    tools: 'json not null',
    text_head: 'text collate "C"',
    parts_head: 'text collate "C" not null',
    part_count: 'int4 not null',
    parts_length: 'int4 not null',
    created_at: 'int8 not null',
    updated_at: 'int8 not null',
    added: 'int8 not null',
    revision: 'int8 not null',
    block: 'int8 not null',
    heads_at: 'int4 not null',
    parts_at: 'int4 not null',
    parts_end: 'int4 not null',
    facts: 'text collate "C"',
    prices: 'int8',
    answer: 'int8',
  },
  { constraint: 'primary key (trace_id, incarnation, ordinal)', storage: erasedFrom },
)

/** SQL for the order of messages. Messages without a value come last: none can have an infinite one. Queries must use exactly these expressions. */
export const listOrder = (sequence: string, timestamp: string): string =>
  `coalesce(${sequence}, 'infinity'::float8), coalesce(${timestamp}, 'infinity'::float8)`

/**
 * The parts of new messages, in each row those of one or more messages of one append. `revision` is that of the first message's event,
 * `first` its ordinal. Rows never change. `body` is UTF-8: for each message the heads of its parts, then the parts as answers show them,
 * both separated by commas. A head has the end of its part, counted from the beginning of the message's first part, and a line of
 * `src/server/trace/messages/heads.ts`. All heads have the same length (`inBlock`).
 */
export const messageBlocksTable = tableOf(
  'message_blocks',
  {
    trace_id: 'uuid not null',
    incarnation: 'int8 not null',
    revision: 'int8 not null',
    first: 'int4 not null',
    body: 'bytea not null',
  },
  { constraint: 'primary key (trace_id, incarnation, revision)', storage: erasedFrom },
)

/** The length of a head in a block: of the number at its beginning, and of the whole head with the comma after it. */
export const inBlock = { end: 9, head: 55 } as const

/**
 * Parts that were changed after their message was added: each as it is now, or, at a position beyond `part_count`, as it was before it
 * was removed. `body` is the part as answers show it: `{"order", "type", "content"?}`; `head` is a line of
 * `src/server/trace/messages/heads.ts`, `fact` a word of `src/server/trace/messages/facts.ts`.
 */
export const messagePartsTable = tableOf(
  'message_parts',
  {
    trace_id: 'uuid not null',
    incarnation: 'int8 not null',
    ordinal: 'int4 not null',
    position: 'int4 not null',
    head: 'text collate "C" not null',
    body: 'text collate "C" not null',
    fact: 'text collate "C"',
  },
  { constraint: 'primary key (trace_id, incarnation, ordinal, position)', storage: erasedFrom },
)

/** What is kept of the first messages of a trace to make its shape (`src/server/trace/kept-shape.ts`). Few messages need no row. */
export const shapeStatesTable = tableOf(
  'shape_states',
  { trace_id: 'uuid primary key', up_to: 'int4 not null', state: 'text collate "C" not null' },
  { storage: `fillfactor = 70, ${rewritten}` },
)

/** Messages and parts of this trace with an incarnation below `before` belong to a deleted trace and have to be deleted. */
export const obsoleteRowsTable = tableOf('obsolete_rows', { trace_id: 'uuid primary key', before: 'int8 not null' })

export const modelProvidersTable = tableOf('model_providers', {
  id: 'text collate "C" primary key',
  name: 'json not null',
  env: 'json not null',
  npm: 'json not null',
  api: 'json',
  doc: 'json not null',
})

/** `body` is the model as answers show it; `search` is the text that searches compare with, in lower case. */
export const modelsTable = tableOf(
  'models',
  {
    provider_id: 'text collate "C" not null',
    model_id: 'text collate "C" not null',
    normalized_id: 'text collate "C" not null',
    name: 'json not null',
    search: 'text collate "C" not null',
    body: 'json not null',
  },
  { constraint: 'primary key (provider_id, model_id)' },
)

/**
 * The events of the registry, by their position in the log. `append_id` names the event in copies of the log, too, where it has another position.
 * Rows are never deleted.
 */
export const priceChangesTable = tableOf('price_changes', {
  position: 'int8 primary key',
  provider_id: 'text collate "C" not null',
  append_id: 'text collate "C" not null',
})

/** Stands for all models of a provider that it had before. */
export const ALL_MODELS = ''

/**
 * What models were called and cost from a position of the log on; both are null for a model that was removed, and of `ALL_MODELS`. Rows are
 * never deleted.
 */
export const modelPricesTable = tableOf(
  'model_prices',
  {
    provider_id: 'text collate "C" not null',
    model_id: 'text collate "C" not null',
    position: 'int8 not null',
    name: 'json',
    cost: 'json',
  },
  { constraint: 'primary key (provider_id, model_id, position)' },
)

/** The tables that queries use: those of the main group, and an operational one. */
export type ReadTables = {
  users: RowOf<typeof usersTable>
  identities: RowOf<typeof identitiesTable> & { type: IdentityType }
  removed_identities: RowOf<typeof removedIdentitiesTable>
  sessions: RowOf<typeof sessionsTable>
  namespaces: RowOf<typeof namespacesTable> & { type: NamespaceType }
  members: RowOf<typeof membersTable> & { role: Role }
  invites: RowOf<typeof invitesTable> & { role: Role }
  sizes: RowOf<typeof sizesTable>
  traces: RowOf<typeof tracesTable> & { visibility: Visibility }
  trace_tombstones: RowOf<typeof tombstonesTable>
  feed: RowOf<typeof feedTable>
  counts: RowOf<typeof countsTable>
  shape_states: RowOf<typeof shapeStatesTable>
  messages: RowOf<typeof messagesTable>
  message_blocks: RowOf<typeof messageBlocksTable>
  message_parts: RowOf<typeof messagePartsTable>
  obsolete_rows: RowOf<typeof obsoleteRowsTable>
  usage: RowOf<typeof usageTable>
  usage_tools: RowOf<typeof usageToolsTable>
  usage_days: RowOf<typeof usageDaysTable>
  copied_answers: RowOf<typeof copiedAnswersTable>
  failed_calls: RowOf<typeof failedCallsTable>
  model_providers: RowOf<typeof modelProvidersTable>
  models: RowOf<typeof modelsTable>
  price_changes: RowOf<typeof priceChangesTable>
  model_prices: RowOf<typeof modelPricesTable>
  /** When a session was last used, in milliseconds; not made from events. */
  'tracebook.session_uses': { session_id: string; last_used_at: bigint }
}
