import { createHmac, randomBytes } from 'node:crypto'
import type pg from 'pg'
import { Unavailable } from '../engine/rejected.ts'
import { sha256 } from '../ids.ts'
import { isDiskFull, isTransient } from '../postgres/connect.ts'
import type { Joining } from '../session/joining.ts'
import type { Credential } from '../user/decide.ts'

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

/** Who it was at the code host, and what the page has said would be joined. */
export type Arrived = { readonly credential: Credential; readonly agreed: Joining }

/** A yes of the person in front of the page: what the page holds, and the cookie of its browser. */
export type Answer = { readonly state: string; readonly confirmation: string; readonly browser: string }

/** What completes a sign-in. */
export type Codes = { readonly state: string; readonly exchangeCode: string }

type Settled = Arrived & { readonly wish: Wish }

/** Sign-ins under way: each lives for ten minutes and works once. */
export type Handshakes = {
  start(wish: Wish): Promise<Secrets & { readonly expiresAt: number }>
  /** Takes a handshake up as its provider sends somebody back: undefined when unknown, expired or taken up before. */
  claim(state: string): Promise<{ readonly wish: Wish; readonly secrets: Secrets } | undefined>
  /** Notes who it was, until that person says yes. Returns what the yes must come with, from the same browser. */
  hold(state: string, arrived: Arrived, browser: string): Promise<string>
  /** Takes a yes, once. Gives the exchange code that, together with the state, completes it; undefined as below. */
  confirm(answer: Answer): Promise<{ readonly wish: Wish; readonly exchangeCode: string } | undefined>
  /** Takes a no, and forgets the handshake; undefined when anything is unknown, expired or answered already. */
  deny(answer: Answer): Promise<{ readonly wish: Wish } | undefined>
  /** What completing a handshake would do: undefined when anything is unknown, expired or used. */
  look(codes: Codes): Promise<Settled | undefined>
  /** Completes a handshake, once: undefined when anything is unknown, expired or used. */
  complete(codes: Codes): Promise<Settled | undefined>
}

export const LIFETIME_MS = 10 * 60 * 1_000

const startStatement = `
  with expired as (delete from tracebook.handshakes where expires <= $5)
  insert into tracebook.handshakes (state_hash, salt, wish, expires) values ($1, $2, $3, $4)`

const claimStatement = `
  update tracebook.handshakes set claimed_at = $2 where state_hash = $1 and claimed_at is null and expires > $2
  returning salt, wish`

const holdStatement = 'update tracebook.handshakes set exchange_hash = $2, identity = $3 where state_hash = $1'

const confirmStatement = `
  update tracebook.handshakes set exchange_hash = $4 where state_hash = $1 and exchange_hash = $2 and expires > $3
  returning wish`

const matching = 'from tracebook.handshakes where state_hash = $1 and exchange_hash = $2 and expires > $3'
const denyStatement = `delete ${matching} returning wish`
const lookStatement = `select wish, identity ${matching}`
const completeStatement = `delete ${matching} returning wish, identity`

/** What stands in the place of the code's hash until there is a yes: no hash of a code looks like it. */
const unconfirmed = (confirmation: string, browser: string) => `unconfirmed ${sha256(`${confirmation}\0${browser}`)}`

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

  const hold = async (state: string, { credential, agreed }: Arrived, browser: string) => {
    const confirmation = secret()
    const held = JSON.stringify({ ...credential, agreed })
    await ask(holdStatement, [sha256(state), unconfirmed(confirmation, browser), held])
    return confirmation
  }

  const placeOf = ({ state, confirmation, browser }: Answer) => [
    sha256(state),
    unconfirmed(confirmation, browser),
    now(),
  ]

  const confirm = async (answer: Answer) => {
    const exchangeCode = secret()
    const row = await ask<{ wish: string }>(confirmStatement, [...placeOf(answer), sha256(exchangeCode)])
    return row && { wish: JSON.parse(row.wish) as Wish, exchangeCode }
  }

  const deny = async (answer: Answer) => {
    const row = await ask<{ wish: string }>(denyStatement, placeOf(answer))
    return row && { wish: JSON.parse(row.wish) as Wish }
  }

  const settled = (statement: string) => async (codes: Codes) => {
    const values = [sha256(codes.state), sha256(codes.exchangeCode), now()]
    const row = await ask<{ wish: string; identity: string }>(statement, values)
    if (!row) return undefined
    const { agreed, ...credential } = JSON.parse(row.identity) as Credential & { agreed?: Joining }
    // A code of the version before this one was given without asking.
    return agreed && { wish: JSON.parse(row.wish) as Wish, credential, agreed }
  }

  return { start, claim, hold, confirm, deny, look: settled(lookStatement), complete: settled(completeStatement) }
}
