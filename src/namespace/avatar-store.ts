import type pg from 'pg'
import { Unavailable } from '../engine/rejected.ts'
import { isDiskFull, isTransient } from '../postgres/connect.ts'
import type { ImageType } from './image-type.ts'

export type Avatar = { readonly type: ImageType; readonly bytes: Buffer }

/** The bytes of avatars by namespace and hash of their content: operational data, no events. */
export type Avatars = {
  /** Keeps the bytes, so that an event may name them. */
  put(namespaceId: string, storageId: string, avatar: Avatar): Promise<void>
  get(namespaceId: string, storageId: string): Promise<Avatar | undefined>
  has(namespaceId: string, storageId: string): Promise<boolean>
  /** How many bytes are kept for a namespace besides one picture. */
  bytesOfOthers(namespaceId: string, storageId: string | undefined): Promise<number>
  /** Forgets the namespace's bytes that no decision under way can still mean. */
  forgetOthers(namespaceId: string, storageId: string): Promise<void>
}

const putStatement = `
  insert into tracebook.avatars values ($1, $2, $3, $4, $5)
  on conflict (namespace_id, storage_id) do update set put_at = excluded.put_at`

const getStatement = 'select type, bytes from tracebook.avatars where namespace_id = $1 and storage_id = $2'

const hasStatement = 'select 1 from tracebook.avatars where namespace_id = $1 and storage_id = $2'

const othersStatement = `
  select coalesce(sum(octet_length(bytes)), 0)::int8 as bytes from tracebook.avatars
  where namespace_id = $1 and storage_id is distinct from $2`

const forgetStatement = 'delete from tracebook.avatars where namespace_id = $1 and storage_id <> $2 and put_at < $3'

/** Two uploads at once must not take each other's bytes away: what is replaced stays for this long. */
const STAYS_MS = 60 * 60 * 1_000

/** @throws Unavailable in place of a fault of the database */
const guarded = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (isTransient(error) || isDiskFull(error)) throw new Unavailable('the database cannot be reached', false, error)
    throw error
  }
}

export const newAvatars = ({ pool, now }: { readonly pool: pg.Pool; readonly now: () => number }): Avatars => ({
  put: async (namespaceId, storageId, { type, bytes }) => {
    await guarded(pool.query(putStatement, [namespaceId, storageId, type, bytes, now()]))
  },
  get: async (namespaceId, storageId) =>
    (await guarded(pool.query<Avatar>(getStatement, [namespaceId, storageId]))).rows[0],
  has: async (namespaceId, storageId) =>
    (await guarded(pool.query(hasStatement, [namespaceId, storageId]))).rows.length > 0,
  bytesOfOthers: async (namespaceId, storageId) => {
    const { rows } = await guarded(pool.query<{ bytes: bigint }>(othersStatement, [namespaceId, storageId ?? null]))
    return Number(rows[0]!.bytes)
  },
  forgetOthers: async (namespaceId, storageId) => {
    await guarded(pool.query(forgetStatement, [namespaceId, storageId, now() - STAYS_MS]))
  },
})
