import type pg from 'pg'
import { operationalQuery } from '../../eventstore/engine/reads.ts'
import type { ImageType } from './image-type.ts'

export type Avatar = { readonly type: ImageType; readonly bytes: Buffer }

/** The pictures of avatars, by namespace and hash of their content. Operational data: the events have the hash only. */
export type AvatarStore = {
  /** Stores a picture. Comes before the event with its hash. */
  put(namespaceId: string, storageId: string, avatar: Avatar): Promise<void>
  get(namespaceId: string, storageId: string): Promise<Avatar | undefined>
  has(namespaceId: string, storageId: string): Promise<boolean>
  /** The size in bytes of all stored pictures of a namespace except one. */
  bytesOfOthers(namespaceId: string, storageId: string | undefined): Promise<number>
  /** Deletes the other pictures of a namespace that were stored more than an hour ago. */
  deleteOthers(namespaceId: string, storageId: string): Promise<void>
}

const putStatement = `
  insert into tracebook.avatars values ($1, $2, $3, $4, $5)
  on conflict (namespace_id, storage_id) do update set put_at = excluded.put_at`

const getStatement = 'select type, bytes from tracebook.avatars where namespace_id = $1 and storage_id = $2'

const hasStatement = 'select 1 from tracebook.avatars where namespace_id = $1 and storage_id = $2'

const bytesOfOthersStatement = `
  select coalesce(sum(octet_length(bytes)), 0)::int8 as bytes from tracebook.avatars
  where namespace_id = $1 and storage_id is distinct from $2`

const deleteOthersStatement =
  'delete from tracebook.avatars where namespace_id = $1 and storage_id <> $2 and put_at < $3'

/** Younger pictures are not deleted: they may belong to an upload whose event is not stored yet. */
const KEEP_REPLACED_MS = 60 * 60 * 1_000

/** @throws Unavailable from each method while the database cannot be reached */
export const newAvatarStore = ({ pool, now }: { readonly pool: pg.Pool; readonly now: () => number }): AvatarStore => ({
  put: async (namespaceId, storageId, { type, bytes }) => {
    await operationalQuery(pool.query(putStatement, [namespaceId, storageId, type, bytes, now()]))
  },
  get: async (namespaceId, storageId) =>
    (await operationalQuery(pool.query<Avatar>(getStatement, [namespaceId, storageId]))).rows[0],
  has: async (namespaceId, storageId) =>
    (await operationalQuery(pool.query(hasStatement, [namespaceId, storageId]))).rows.length > 0,
  bytesOfOthers: async (namespaceId, storageId) => {
    const { rows } = await operationalQuery(
      pool.query<{ bytes: bigint }>(bytesOfOthersStatement, [namespaceId, storageId ?? null]),
    )
    return Number(rows[0]!.bytes)
  },
  deleteOthers: async (namespaceId, storageId) => {
    await operationalQuery(pool.query(deleteOthersStatement, [namespaceId, storageId, now() - KEEP_REPLACED_MS]))
  },
})
