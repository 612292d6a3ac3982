import type * as client from 'openid-client'
import type { Credential } from '../user/decide.ts'

/** A kind of provider: how it is reached, and how it says who somebody is. */
export type Provider = {
  readonly scope: string
  readonly usesNonce: boolean
  /** What counts of the address that somebody has come back to. */
  answer(callback: URL): URL
  configuration(): Promise<client.Configuration>
  /** `tokens` are checked against the nonce already. */
  whoIs(tokens: Awaited<ReturnType<typeof client.authorizationCodeGrant>>): Promise<Credential>
}
