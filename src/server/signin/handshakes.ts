import { createHmac, randomBytes } from 'node:crypto'
import type pg from 'pg'
import { operationalQuery } from '../../eventstore/engine/reads.ts'
import { sha256 } from '../../base/ids.ts'
import { deleteExpired } from '../session/one-time-codes.ts'
import type { Joining } from '../session/joining.ts'
import type { Credential } from '../user/decide.ts'

/** The values with which a sign-in was started. `deviceKey` is the SHA-256 of the device's id; absent if a browser signs in by itself. */
export type SignInRequest = {
  readonly deviceKey?: string
  readonly deviceName?: string
  readonly namespaceId?: string
  readonly inviteCode?: string
  readonly redirectTo?: string
  /** The SHA-256 of the cookie of the browser that started the sign-in; only if it was started on a page of the service. */
  readonly browserKey?: string
}

/**
 * The parameters of the authorization request: `state`, the PKCE verifier and the nonce. Verifier and nonce are derived from
 * the state, which only the browser has, and the salt, which only the database has.
 */
export type Secrets = { readonly state: string; readonly verifier: string; readonly nonce: string }

/** The account that the code host has identified, and what the user is asked to confirm. */
type IdentifiedAccount = { readonly credential: Credential; readonly agreed: Joining }

/** The user's answer on the confirmation page: `confirmation` is the secret of the page, `browser` that of its cookie. */
export type ConfirmationAnswer = { readonly state: string; readonly confirmation: string; readonly browser: string }

/** The codes that complete a sign-in. */
type CompletionCodes = { readonly state: string; readonly exchangeCode: string }

export const LIFETIME_MS = 10 * 60 * 1_000

const startStatement = `
  with expired as (${deleteExpired('$5')})
  insert into tracebook.handshakes (state_hash, salt, wish, expires) values ($1, $2, $3, $4)`

const claimStatement = `
  update tracebook.handshakes set claimed_at = $2 where state_hash = $1 and claimed_at is null and expires > $2
  returning salt, wish`

const awaitConfirmationStatement =
  'update tracebook.handshakes set exchange_hash = $2, identity = $3 where state_hash = $1'

const confirmStatement = `
  update tracebook.handshakes set exchange_hash = $4 where state_hash = $1 and exchange_hash = $2 and expires > $3
  returning wish`

const whereCompletable = 'from tracebook.handshakes where state_hash = $1 and exchange_hash = $2 and expires > $3'
const denyStatement = `delete ${whereCompletable} returning wish`
const peekStatement = `select wish, identity ${whereCompletable}`
const completeStatement = `delete ${whereCompletable} returning wish, identity`

/** Stored in place of the exchange code's hash until the user confirms. The prefix makes it different from any such hash. */
const confirmationHash = (confirmation: string, browser: string) =>
  `unconfirmed ${sha256(`${confirmation}\0${browser}`)}`

const newSecret = () => randomBytes(32).toString('base64url')
const deriveSecret = (state: string, salt: string, use: string) =>
  createHmac('sha256', state).update(`${use}\0${salt}`).digest('base64url')
const secretsOf = (state: string, salt: string): Secrets => ({
  state,
  verifier: deriveSecret(state, salt, 'verifier'),
  nonce: deriveSecret(state, salt, 'nonce'),
})

/**
 * Pending sign-ins with the code host, in `tracebook.handshakes`, which also has one-time codes (`server/session/one-time-codes.ts`).
 * Each expires after ten minutes, and each step can be done once: the methods return undefined if a sign-in is unknown, expired,
 * or past that step. They throw Unavailable while the database cannot be reached.
 */
export const newHandshakes = ({ pool, now }: { readonly pool: pg.Pool; readonly now: () => number }) => {
  const queryOne = async <Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row | undefined> =>
    (await operationalQuery(pool.query<Row>(text, values))).rows[0]

  /** Starts a sign-in. `expiresAt` is in milliseconds. */
  const start = async (signIn: SignInRequest) => {
    const [state, salt, at] = [newSecret(), newSecret(), now()]
    const expiresAt = at + LIFETIME_MS
    await queryOne(startStatement, [sha256(state), salt, JSON.stringify(signIn), expiresAt, at])
    return { ...secretsOf(state, salt), expiresAt }
  }

  /** Continues a sign-in when the code host redirects the browser back. */
  const claim = async (state: string) => {
    const row = await queryOne<{ salt: string; wish: string }>(claimStatement, [sha256(state), now()])
    return row && { signIn: JSON.parse(row.wish) as SignInRequest, secrets: secretsOf(state, row.salt) }
  }

  /** Stores the account until the user confirms. Returns the secret for the confirmation page in this browser. */
  const awaitConfirmation = async (state: string, { credential, agreed }: IdentifiedAccount, browser: string) => {
    const confirmation = newSecret()
    const identity = JSON.stringify({ ...credential, agreed })
    await queryOne(awaitConfirmationStatement, [sha256(state), confirmationHash(confirmation, browser), identity])
    return confirmation
  }

  const answerValues = ({ state, confirmation, browser }: ConfirmationAnswer) => [
    sha256(state),
    confirmationHash(confirmation, browser),
    now(),
  ]

  /** Accepts the user's yes. Returns the exchange code that completes the sign-in together with the state. */
  const confirm = async (answer: ConfirmationAnswer) => {
    const exchangeCode = newSecret()
    const row = await queryOne<{ wish: string }>(confirmStatement, [...answerValues(answer), sha256(exchangeCode)])
    return row && { signIn: JSON.parse(row.wish) as SignInRequest, exchangeCode }
  }

  /** Accepts the user's no, and deletes the sign-in. */
  const deny = async (answer: ConfirmationAnswer) => {
    const row = await queryOne<{ wish: string }>(denyStatement, answerValues(answer))
    return row && { signIn: JSON.parse(row.wish) as SignInRequest }
  }

  const readConfirmed = (statement: string) => async (codes: CompletionCodes) => {
    const values = [sha256(codes.state), sha256(codes.exchangeCode), now()]
    const row = await queryOne<{ wish: string; identity: string }>(statement, values)
    if (!row) return undefined
    const { agreed, ...credential } = JSON.parse(row.identity) as Credential & { agreed: Joining }
    return { signIn: JSON.parse(row.wish) as SignInRequest, credential, agreed }
  }

  return {
    start,
    claim,
    awaitConfirmation,
    confirm,
    deny,

    /** The confirmed sign-in of these codes, without completing it. */
    peek: readConfirmed(peekStatement),

    /** Completes a sign-in, and deletes it. */
    complete: readConfirmed(completeStatement),
  }
}

export type Handshakes = ReturnType<typeof newHandshakes>
