import type { ReadTables } from '../../tables/main.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import type { Transactor } from '../../eventstore/engine/transact.ts'
import type { Write } from '../../eventstore/engine/write.ts'
import type { AvatarStore } from './avatar-store.ts'
import type { Namespace } from './decide.ts'
import type { NamespaceEvent } from './events.ts'
import type { Quotas } from './quotas.ts'

/**
 * Keeps the traces of a namespace that its retention, in days, does not delete, also from deletions by an earlier retention that are under way.
 * @throws Unavailable if these cannot be stopped now
 */
export type KeepTraces = (namespaceId: string, retentionDays: number | undefined) => Promise<void>

/** What the routes of namespaces, their members and invites need. */
export type NamespaceServices = {
  readonly now: () => number
  readonly reads: Reads<ReadTables>
  readonly namespaces: Transactor<Namespace, NamespaceEvent>
  readonly write: Write
  readonly keepTraces: KeepTraces
}

/** What the routes of avatars need besides, because the bytes of avatars are stored outside the log. */
export type AvatarServices = NamespaceServices & {
  readonly avatars: AvatarStore
  readonly quotas: Pick<Quotas, 'avatars'>
  readonly assertWritable: () => void
}
