import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { openLimits } from '../http/limits.ts'
import { newAvatarStore } from '../namespace/avatar-store.ts'
import { openQuotas } from '../namespace/quotas.ts'
import { newLastUsedTimes } from '../session/last-used.ts'
import { newOneTimeCodes } from '../session/one-time-codes.ts'
import { newHandshakes } from '../signin/handshakes.ts'
import type { Stores } from './stores.ts'

type OperationalDataOptions = {
  readonly config: Config
  readonly databaseUrl: string
  readonly stores: Pick<Stores, 'operations' | 'reads' | 'sizes'>
  /** The clock, in milliseconds. */
  readonly now: () => number
  readonly logger: Logger
}

/** The data that routes keep in the database but not in the log, because no read model is made of it. */
export const openOperationalData = ({ config, databaseUrl, stores, now, logger }: OperationalDataOptions) => {
  const { operations: pool, reads, sizes } = stores
  const avatars = newAvatarStore({ pool, now })
  const lastUsed = newLastUsedTimes({ pool, now })
  const limits = openLimits({ config, databaseUrl, connections: sizes.limits, logger })
  return {
    avatars,
    quotas: openQuotas(config, { reads, avatars }),
    lastUsed,
    limits,
    codes: newOneTimeCodes({ pool, now }),
    handshakes: newHandshakes({ pool, now }),
    /** Writes all pending data. */
    close: async () => {
      await Promise.all([lastUsed.close(), limits?.close()])
    },
  }
}
