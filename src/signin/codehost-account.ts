import { sha256 } from '../base/ids.ts'
import type { Credential } from '../user/decide.ts'

/** An account at a code host. `host` distinguishes it from an account with the same id at another code host. */
export type CodehostAccount = {
  readonly host: string
  readonly id: string
  readonly login: string
  readonly avatarUrl?: string | undefined
  readonly email?: string | undefined
  readonly emailVerified: boolean
}

const isWebAddress = (text: string | undefined): text is string => URL.parse(text ?? '')?.protocol === 'https:'

/**
 * The credential of an account. `emailVerified` is set to false without a verified address, so that a later sign-in also
 * updates one that was verified before.
 */
export const toCredential = ({ host, id, login, avatarUrl, email, emailVerified }: CodehostAccount): Credential => {
  const key = sha256(`${host}\0${id}`)
  return {
    type: 'codehost',
    key,
    profile: {
      providerData: { login, ...(isWebAddress(avatarUrl) ? { avatarUrl } : {}) },
      ...(email === undefined ? {} : { email }),
      emailVerified: email !== undefined && emailVerified,
    },
  }
}
