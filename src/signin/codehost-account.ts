import { sha256 } from '../ids.ts'
import type { Credential } from '../user/decide.ts'

/** What a provider says of somebody; `host` tells its users from those of another provider with the same ids. */
export type Said = {
  readonly host: string
  readonly id: string
  readonly login: string
  readonly avatarUrl?: string | undefined
  readonly email?: string | undefined
  readonly emailVerified: boolean
}

const isWebAddress = (text: string | undefined): text is string => URL.parse(text ?? '')?.protocol === 'https:'

/** What stands for somebody at the code host. An address that is gone, or not confirmed, is not verified any more. */
export const credentialOf = ({ host, id, login, avatarUrl, email, emailVerified }: Said): Credential => {
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
