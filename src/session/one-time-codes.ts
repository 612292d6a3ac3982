import type pg from 'pg'
import { operationalQuery } from '../engine/reads.ts'
import type { Caller } from '../http/caller.ts'
import { sha256 } from '../base/ids.ts'
import { isCode, newCode, normalizedCode } from './code-text.ts'

/** What a code is for: another device joins its user, or a browser signs in as that user. */
export type CodePurpose = 'join' | 'browser'

/** The session that has made a code, and what is to happen with it. */
export type CodeTerms = {
  readonly userId: string
  readonly identityId: string
  readonly sessionId: string
  readonly deviceName?: string
  /** The namespace that the session was active in. */
  readonly namespaceId?: string
  /** The path where a browser goes after it has signed in. */
  readonly redirectTo?: string
}

/** What a code of this caller begins with. */
export const codeTermsOf = ({ userId, identityId, sessionId, deviceName, namespace }: Caller): CodeTerms => ({
  userId,
  identityId,
  sessionId,
  ...(deviceName === undefined ? {} : { deviceName }),
  ...(namespace ? { namespaceId: namespace.id } : {}),
})

/** A code that was made. `expiresAt` is in milliseconds; `usedBy` is the id that has claimed it, if one has. */
export type StoredCode = {
  readonly terms: CodeTerms
  readonly expiresAt: number
  readonly usedBy: string | undefined
}

/**
 * One-time codes: operational data, stored as hashes only. Their rows are in `tracebook.handshakes`, beside the sign-ins with the code
 * host that the table was made and named for: `state_hash` is the key of a code, `wish` its terms, `exchange_hash` the id that has
 * used it. All methods throw Unavailable while the database is away.
 */
export type OneTimeCodes = {
  /** Makes a code that is valid for `lifetimeMs`. */
  make(
    purpose: CodePurpose,
    terms: CodeTerms,
    lifetimeMs: number,
  ): Promise<{ readonly code: string; readonly expiresAt: number }>
  /** The code as it is stored, also when it was used or has expired; undefined for one that was never made, or is swept. */
  find(purpose: CodePurpose, code: string): Promise<StoredCode | undefined>
  /** Marks a code as used by `id`. False when another id has used it. Does not check whether it has expired. */
  claim(purpose: CodePurpose, code: string, id: string): Promise<boolean>
  /** Makes a code usable again that `id` has claimed. */
  release(purpose: CodePurpose, code: string, id: string): Promise<void>
}

/** For so long a code is known after its end, so that its user is told why it does not work. */
const KEPT_MS = 60 * 60 * 1_000

/** SQL that deletes what has expired at the time of a parameter, such as `$1`: sign-ins under way, and codes. */
export const deleteExpired = (parameter: string): string =>
  `delete from tracebook.handshakes where expires <= ${parameter}`

const makeStatement = `
  with expired as (${deleteExpired('$4')})
  insert into tracebook.handshakes (state_hash, salt, wish, expires) values ($1, '', $2, $3)`

const findStatement = 'select wish, exchange_hash from tracebook.handshakes where state_hash = $1'

const claimStatement = `
  update tracebook.handshakes set claimed_at = $3, exchange_hash = $2
  where state_hash = $1 and (exchange_hash is null or exchange_hash = $2) returning state_hash`

const releaseStatement = `
  update tracebook.handshakes set claimed_at = null, exchange_hash = null where state_hash = $1 and exchange_hash = $2`

/** The key of a code's row. The purpose keeps it different from any key of a sign-in, and of a code for another purpose. */
const keyOf = (purpose: CodePurpose, code: string) => `${purpose} ${sha256(normalizedCode(code))}`

type Wish = { readonly terms: CodeTerms; readonly expiresAt: number }

export const newOneTimeCodes = ({
  pool,
  now,
}: {
  readonly pool: pg.Pool
  readonly now: () => number
}): OneTimeCodes => {
  const query = <Row extends pg.QueryResultRow>(text: string, values: unknown[]) =>
    operationalQuery(pool.query<Row>(text, values))

  const make: OneTimeCodes['make'] = async (purpose, terms, lifetimeMs) => {
    const [code, at] = [newCode(), now()]
    const expiresAt = Math.round(at + lifetimeMs)
    const wish = JSON.stringify({ terms, expiresAt } satisfies Wish)
    await query(makeStatement, [keyOf(purpose, code), wish, expiresAt + KEPT_MS, Math.round(at)])
    return { code, expiresAt }
  }

  const find: OneTimeCodes['find'] = async (purpose, code) => {
    if (!isCode(code)) return undefined
    type Row = { wish: string; exchange_hash: string | null }
    const [row] = (await query<Row>(findStatement, [keyOf(purpose, code)])).rows
    if (!row) return undefined
    return { ...(JSON.parse(row.wish) as Wish), usedBy: row.exchange_hash ?? undefined }
  }

  const claim: OneTimeCodes['claim'] = async (purpose, code, id) =>
    (await query(claimStatement, [keyOf(purpose, code), id, Math.round(now())])).rows.length > 0

  const release: OneTimeCodes['release'] = async (purpose, code, id) =>
    void (await query(releaseStatement, [keyOf(purpose, code), id]))

  return { make, find, claim, release }
}
