import { resolve } from 'node:path'
import { z } from 'zod'
import { groups } from '../../projections/index.ts'
import { defaultDataDir } from '../eventstore/embedded/default-data-dir.ts'
import { httpSettings } from './http/settings.ts'
import { modelsSettings } from './models/settings.ts'
import { quotaSettings } from './namespace/settings.ts'
import { severalHosts } from '../eventstore/postgres/one-host.ts'
import { minConnections } from '../eventstore/postgres/pool-sizes.ts'
import { checkProof, proofSettings } from './proof/settings.ts'
import { realtimeSettings } from './realtime/settings.ts'
import { sessionSettings } from './session/settings.ts'
import { checkSignin, signinSettings } from './signin/settings.ts'
import { checkSummaries, summarySettings } from './summary/settings.ts'
import { wholeNumber } from '../base/whole-number.ts'

const Role = z.enum(['api', 'projector', 'worker'])

const url = (...protocols: string[]) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
    error: `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  })

const databaseUrl = z
  .string()
  .refine((text) => severalHosts(text) === undefined, {
    error: ({ input }) => severalHosts(String(input)),
    abort: true,
  })
  .pipe(url('postgres:', 'postgresql:'))

const roles = z
  .string()
  .default('api,projector,worker')
  .transform((text) => text.split(',').map((role) => role.trim()))
  .pipe(z.array(Role).min(1))

/** The whole configuration: environment variables, read at the start. The README lists some with their defaults, `commands/README.md` the rest. */
export const Environment = z.object({
  ...httpSettings,
  DATA_DIR: z
    .string()
    .min(1)
    .transform((path) => resolve(path))
    .default(() => defaultDataDir()),
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_READ_URL: databaseUrl.optional(),
  DATABASE_CONNECTIONS: wholeNumber(minConnections(groups.length), 10_000).default(37),
  // Only its beginning is checked here: a list of hosts is no valid URL. The adapter parses the rest.
  EVENTSTORE_URL: z
    .string()
    .regex(/^(esdb|kurrentdb)(\+discover)?:\/\//i, {
      error: 'must start with esdb://, esdb+discover:// or kurrentdb://',
    })
    .optional(),
  ROLES: roles,
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  ...sessionSettings,
  ...signinSettings,
  ...realtimeSettings,
  ...modelsSettings,
  ...summarySettings,
  ...quotaSettings,
  ...proofSettings,
  DISK_RESERVE_MB: wholeNumber(0).default(256),
})

export type Config = z.infer<typeof Environment>

/** Refuses a standby for a process that projects or works: only reads for clients may be behind. */
const checkReadUrl = (settings: Partial<Config>, context: z.RefinementCtx): void => {
  const { DATABASE_URL: url, DATABASE_READ_URL: readUrl, ROLES: own } = settings
  const refuse = (message: string) => context.addIssue({ code: 'custom', path: ['DATABASE_READ_URL'], message })
  if (readUrl === undefined) return
  if (url === undefined) refuse('needs DATABASE_URL, which names the primary')
  if (own?.some((role) => role !== 'api')) refuse('is for processes with ROLES=api only')
  if (readUrl === url) refuse('is the same as DATABASE_URL: remove it')
}

/** The configuration cannot be used. The message names each wrong variable, and what is wrong with it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Reads the configuration; an empty variable counts as unset. @throws ConfigError */
export const readConfig = (environment: Readonly<Record<string, string | undefined>>): Config => {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''))
  const checked = Environment.superRefine(checkSignin)
    .superRefine(checkSummaries)
    .superRefine(checkProof)
    .superRefine(checkReadUrl)
  const parsed = checked.safeParse(set)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw new ConfigError(`the configuration cannot be used\n  ${issues.join('\n  ')}`)
}
