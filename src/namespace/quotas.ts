import type { ReadTables } from '../../projections/index.ts'
import type { Reads, Row } from '../engine/reads.ts'
import type { Avatars } from './avatar-store.ts'
import { avatarIdOf } from './queries.ts'
import type { QuotaSettings } from './settings.ts'
import { type Quota, newQuota } from './quota.ts'

export type Quotas = { readonly traces: Quota; readonly bytes: Quota; readonly avatars: Quota }

const sizesStatement = 'select traces, bytes from sizes where namespace_id = $1'

export const openQuotas = (
  { QUOTA_TRACES, QUOTA_BYTES, QUOTA_AVATAR_BYTES }: QuotaSettings,
  { reads, avatars }: { readonly reads: Reads<ReadTables>; readonly avatars: Avatars },
): Quotas => {
  const sizeOf = async (namespaceId: string) => {
    type SizeRow = { traces: bigint; bytes: bigint } & Row
    const [row] = await reads.rows<SizeRow>('sizes', sizesStatement, [namespaceId])
    return { traces: Number(row?.traces ?? 0), bytes: Number(row?.bytes ?? 0) }
  }
  const replacedAvatars = async (namespaceId: string) => {
    const storageId = (await avatarIdOf(reads, namespaceId))?.storageId
    await avatars.forgetOthers(namespaceId, storageId ?? '')
    return avatars.bytesOfOthers(namespaceId, storageId)
  }
  return {
    traces: newQuota({ limit: QUOTA_TRACES, unit: 'traces', used: async (id) => (await sizeOf(id)).traces }),
    bytes: newQuota({ limit: QUOTA_BYTES, unit: 'bytes of messages', used: async (id) => (await sizeOf(id)).bytes }),
    avatars: newQuota({ limit: QUOTA_AVATAR_BYTES, unit: 'bytes of pictures', used: replacedAvatars }),
  }
}
