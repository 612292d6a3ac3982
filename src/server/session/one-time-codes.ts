import { randomInt } from 'node:crypto'
import type pg from 'pg'
import { operationalQuery } from '../../eventstore/engine/reads.ts'
import type { Caller } from '../http/caller.ts'
import { sha256 } from '../../base/ids.ts'

/** Crockford's base 32: digits and letters without those that are easily confused. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const GROUPS = 5
const GROUP = 4
const FORMAT = /^[0-9A-HJKMNP-TV-Z]{20}$/

const newGroup = () => Array.from({ length: GROUP }, () => ALPHABET[randomInt(ALPHABET.length)]!).join('')

/** A new one-time code of 100 random bits, to be typed on another machine: `4F7K-…`. */
const newCode = (): string => Array.from({ length: GROUPS }, newGroup).join('-')

/** A code as its user meant it: in upper case, without separators, and with digits for the letters that look like them. */
const normalizedCode = (text: string): string =>
  text.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1')

/** Whether a text has the form of a code; other texts need no query. */
const isCode = (text: string): boolean => FORMAT.test(normalizedCode(text))

/** The purpose of a code: `join`: another device joins the user who made it; `browser`: a browser signs in as that user. */
export type CodePurpose = 'join' | 'browser'

/** The session that has made a code, and what the code leads to. */
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

/** The terms of a code that this caller makes. */
export const codeTermsOf = ({ userId, identityId, sessionId, deviceName, namespace }: Caller): CodeTerms => ({
  userId,
  identityId,
  sessionId,
  ...(deviceName === undefined ? {} : { deviceName }),
  ...(namespace ? { namespaceId: namespace.id } : {}),
})

/** A stored code. `expiresAt` is in milliseconds since 1970; `usedBy` is the id that has claimed the code, if one has. */
export type StoredCode = {
  readonly terms: CodeTerms
  readonly expiresAt: number
  readonly usedBy: string | undefined
}

/** How long an expired code is kept, so that the answer can say why it does not work. */
const KEPT_MS = 60 * 60 * 1_000

/** SQL that deletes the sign-ins and codes that have expired at the time of a parameter, such as `$1`. */
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

/** The key of a code's row. With the purpose in it, it differs from the keys of sign-ins and of codes for other purposes. */
const keyOf = (purpose: CodePurpose, code: string) => `${purpose} ${sha256(normalizedCode(code))}`

type Wish = { readonly terms: CodeTerms; readonly expiresAt: number }

/**
 * One-time codes: operational data, stored as hashes only. Their rows are in `tracebook.handshakes`, a table that was made for sign-ins
 * with the code host and holds these, too: `state_hash` is the key of a code, `wish` its terms, and `exchange_hash` the id that has
 * used it. All methods throw Unavailable while the database is away.
 */
export const newOneTimeCodes = ({ pool, now }: { readonly pool: pg.Pool; readonly now: () => number }) => {
  const query = <Row extends pg.QueryResultRow>(text: string, values: unknown[]) =>
    operationalQuery(pool.query<Row>(text, values))

  /** Makes a code that is valid for `lifetimeMs`. */
  const make = async (purpose: CodePurpose, terms: CodeTerms, lifetimeMs: number) => {
    const [code, at] = [newCode(), now()]
    const expiresAt = Math.round(at + lifetimeMs)
    const wish = JSON.stringify({ terms, expiresAt } satisfies Wish)
    await query(makeStatement, [keyOf(purpose, code), wish, expiresAt + KEPT_MS, Math.round(at)])
    return { code, expiresAt }
  }

  /** The stored code, even if it was used or has expired; undefined if it was never made, or is deleted already. */
  const find = async (purpose: CodePurpose, code: string) => {
    if (!isCode(code)) return undefined
    type Row = { wish: string; exchange_hash: string | null }
    const [row] = (await query<Row>(findStatement, [keyOf(purpose, code)])).rows
    if (!row) return undefined
    return { ...(JSON.parse(row.wish) as Wish), usedBy: row.exchange_hash ?? undefined }
  }

  /** Marks a code as used by `id`. False when another id has used it. Does not check whether it has expired. */
  const claim = async (purpose: CodePurpose, code: string, id: string) =>
    (await query(claimStatement, [keyOf(purpose, code), id, Math.round(now())])).rows.length > 0

  /** Makes a code usable again that `id` has claimed. */
  const release = async (purpose: CodePurpose, code: string, id: string) =>
    void (await query(releaseStatement, [keyOf(purpose, code), id]))

  return { make, find, claim, release }
}

export type OneTimeCodes = ReturnType<typeof newOneTimeCodes>
