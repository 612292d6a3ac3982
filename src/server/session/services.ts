import type { ReadTables } from '../../tables/main.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import type { Transactor } from '../../eventstore/engine/transact.ts'
import type { Write } from '../../eventstore/engine/write.ts'
import type { AttemptOptions } from '../http/attempt.ts'
import type { HttpConfig } from '../http/settings.ts'
import type { Anchor } from '../../eventstore/log/log.ts'
import type { Namespace } from '../namespace/decide.ts'
import type { NamespaceEvent } from '../namespace/events.ts'
import type { Identity, User } from '../user/decide.ts'
import type { IdentityEvent, UserEvent } from '../user/events.ts'
import type { Session } from './decide.ts'
import type { SessionEvent } from './events.ts'
import type { SessionSettings } from './settings.ts'
import type { LastUsedTimes } from './last-used.ts'
import type { OneTimeCodes } from './one-time-codes.ts'

/** What signing in needs: a new user gets a namespace, a user, an identity and a session. */
export type SignInServices = {
  readonly config: HttpConfig & SessionSettings
  readonly now: () => number
  readonly reads: Reads<ReadTables>
  readonly namespaces: Transactor<Namespace, NamespaceEvent>
  readonly users: Transactor<User, UserEvent>
  readonly identities: Transactor<Identity, IdentityEvent>
  readonly sessions: Transactor<Session, SessionEvent>
  readonly codes: OneTimeCodes
  readonly write: Write
  readonly assertWritable: () => void
}

/** What the routes of sessions need. */
export type SessionServices = SignInServices & {
  readonly lastUsed: LastUsedTimes
  readonly logId: () => string | undefined
  /** The id of the log, which is the same in all its epochs. */
  readonly logOfAllEpochs: () => string | undefined
  /** Whether the log holds an event, or has held it until it was erased. @throws LogUnavailable, Unavailable */
  readonly isHeld: (anchor: Anchor) => Promise<boolean>
  readonly tokens: AttemptOptions['tokens']
  readonly limits: AttemptOptions['limits']
}
