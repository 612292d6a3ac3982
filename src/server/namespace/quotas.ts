import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import type { AvatarStore } from './avatar-store.ts'
import { avatarIdOf } from './queries.ts'
import type { QuotaSettings } from './settings.ts'
import { type Quota, newQuota } from './quota.ts'

/** The quotas of namespaces: traces, bytes of messages, and bytes of replaced avatars. */
export type Quotas = { readonly traces: Quota; readonly bytes: Quota; readonly avatars: Quota }

const sizesStatement = 'select traces, bytes from sizes where namespace_id = $1'

export const openQuotas = (
  { QUOTA_TRACES, QUOTA_BYTES, QUOTA_AVATAR_BYTES }: QuotaSettings,
  { reads, avatars }: { readonly reads: Reads<ReadTables>; readonly avatars: AvatarStore },
): Quotas => {
  const readSizes = async (namespaceId: string) => {
    type SizeRow = { traces: bigint; bytes: bigint } & Row
    const [row] = await reads.rows<SizeRow>('sizes', sizesStatement, [namespaceId])
    return { traces: Number(row?.traces ?? 0), bytes: Number(row?.bytes ?? 0) }
  }
  const replacedAvatarBytes = async (namespaceId: string) => {
    const storageId = (await avatarIdOf(reads, namespaceId))?.storageId
    await avatars.deleteOthers(namespaceId, storageId ?? '')
    return avatars.bytesOfOthers(namespaceId, storageId)
  }
  return {
    traces: newQuota({ limit: QUOTA_TRACES, unit: 'traces', readUsage: async (id) => (await readSizes(id)).traces }),
    bytes: newQuota({
      limit: QUOTA_BYTES,
      unit: 'bytes of messages',
      readUsage: async (id) => (await readSizes(id)).bytes,
    }),
    avatars: newQuota({ limit: QUOTA_AVATAR_BYTES, unit: 'bytes of pictures', readUsage: replacedAvatarBytes }),
  }
}
