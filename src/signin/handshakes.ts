import { createHmac, randomBytes } from 'node:crypto'
import type pg from 'pg'
import { Unavailable } from '../engine/rejected.ts'
import { sha256 } from '../ids.ts'
import { isDiskFull, isTransient } from '../postgres/connect.ts'
import type { NewIdentity } from '../session/new-identity.ts'

/** What a sign-in is for, as it was asked for; `deviceKey` is the SHA-256 of the device's id. */
export type Wish = {
  readonly deviceKey: string
  readonly deviceName?: string
  readonly namespaceId?: string
  readonly inviteCode?: string
  readonly redirectTo?: string
  /** The SHA-256 of what the browser that began got as a cookie; only for a sign-in on our own pages. */
  readonly browserKey?: string
}

/** What goes with a handshake to the provider and back. Neither the row nor the state alone gives the verifier. */
export type Secrets = { readonly state: string; readonly verifier: string; readonly nonce: string }

/** Sign-ins under way: each lives for ten minutes and works once (readings: Sign-in with the code host). */
export type Handshakes = {
  start(wish: Wish): Promise<Secrets & { readonly expiresAt: number }>
  /** Takes a handshake up as its provider sends somebody back: undefined when unknown, expired or taken up before. */
  claim(state: string): Promise<{ readonly wish: Wish; readonly secrets: Secrets } | undefined>
  /** Notes who it was. Returns the exchange code that, together with the state, completes it. */
  settle(state: string, identity: NewIdentity): Promise<string>
  /** Completes a handshake, once: undefined when anything is unknown, expired or used. */
  complete(
    state: string,
    exchangeCode: string,
  ): Promise<{ readonly wish: Wish; readonly identity: NewIdentity } | undefined>
}

export const LIFETIME_MS = 10 * 60 * 1_000

const startStatement = `
  with expired as (delete from tracebook.handshakes where expires <= $5)
  insert into tracebook.handshakes (state_hash, salt, wish, expires) values ($1, $2, $3, $4)`

const claimStatement = `
  update tracebook.handshakes set claimed_at = $2 where state_hash = $1 and claimed_at is null and expires > $2
  returning salt, wish`

const settleStatement = 'update tracebook.handshakes set exchange_hash = $2, identity = $3 where state_hash = $1'

const completeStatement = `
  delete from tracebook.handshakes where state_hash = $1 and exchange_hash = $2 and expires > $3
  returning wish, identity`

const secret = () => randomBytes(32).toString('base64url')
const derived = (state: string, salt: string, use: string) =>
  createHmac('sha256', state).update(`${use}\0${salt}`).digest('base64url')
const secretsOf = (state: string, salt: string): Secrets => ({
  state,
  verifier: derived(state, salt, 'verifier'),
  nonce: derived(state, salt, 'nonce'),
})

export const newHandshakes = ({ pool, now }: { readonly pool: pg.Pool; readonly now: () => number }): Handshakes => {
  const ask = async <Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row | undefined> => {
    try {
      return (await pool.query<Row>(text, values)).rows[0]
    } catch (error) {
      if (isTransient(error) || isDiskFull(error)) throw new Unavailable('the database cannot be reached', false, error)
      throw error
    }
  }

  const start = async (wish: Wish) => {
    const [state, salt, at] = [secret(), secret(), now()]
    const expiresAt = at + LIFETIME_MS
    await ask(startStatement, [sha256(state), salt, JSON.stringify(wish), expiresAt, at])
    return { ...secretsOf(state, salt), expiresAt }
  }

  const claim = async (state: string) => {
    const row = await ask<{ salt: string; wish: string }>(claimStatement, [sha256(state), now()])
    return row && { wish: JSON.parse(row.wish) as Wish, secrets: secretsOf(state, row.salt) }
  }

  const settle = async (state: string, identity: NewIdentity) => {
    const exchangeCode = secret()
    await ask(settleStatement, [sha256(state), sha256(exchangeCode), JSON.stringify(identity)])
    return exchangeCode
  }

  const complete = async (state: string, exchangeCode: string) => {
    const values = [sha256(state), sha256(exchangeCode), now()]
    const row = await ask<{ wish: string; identity: string }>(completeStatement, values)
    return row && { wish: JSON.parse(row.wish) as Wish, identity: JSON.parse(row.identity) as NewIdentity }
  }

  return { start, claim, settle, complete }
}
