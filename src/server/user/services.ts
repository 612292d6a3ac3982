import type { ReadTables } from '../../tables/main.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import type { Transactor } from '../../eventstore/engine/transact.ts'
import type { Write } from '../../eventstore/engine/write.ts'
import type { HttpConfig } from '../http/settings.ts'
import type { Identity, User } from './decide.ts'
import type { IdentityEvent, UserEvent } from './events.ts'

/** What the routes of users need. */
export type UserServices = {
  readonly config: HttpConfig
  readonly reads: Reads<ReadTables>
  readonly users: Transactor<User, UserEvent>
  readonly identities: Transactor<Identity, IdentityEvent>
  readonly write: Write
}
