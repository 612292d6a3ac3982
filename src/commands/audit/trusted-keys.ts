import { BadKey, type Signer, parseVerifier, renameSigner } from '../../proof/note.ts'
import type { TrustedKeys } from '../../proof/verify/verify-log.ts'

export type KeySources = {
  /** The key that was given as the one of the log. */
  readonly given?: string | undefined
  /** Keys that are said to have replaced another one, or to have been replaced. */
  readonly accepted: readonly string[]
  /** The key that the service is configured with. */
  readonly signer?: Signer | undefined
  /** What was verified at the last time. */
  readonly kept?: { readonly key: string; readonly keys: readonly string[] } | undefined
}

/** Whether a key is that of the signer, under whatever name: of an embedded service that is `AUDIT_ORIGIN`, which may change. */
const isOf = (signer: Signer, key: string): boolean => {
  try {
    return renameSigner(signer, parseVerifier(key).name).verifier.text === key
  } catch (error) {
    if (error instanceof BadKey) return false
    throw error
  }
}

/** The keys that a log may be signed with: the given one, else the configured one, else the kept one. Undefined when nothing is known. */
export const trustedKeys = ({ given, accepted, signer, kept }: KeySources): TrustedKeys | undefined => {
  if (given === undefined && !signer && !kept && accepted.length === 0) return undefined
  const isCurrent = (key: string) => {
    if (accepted.includes(key)) return true
    if (given !== undefined) return key === given
    return signer ? isOf(signer, key) : key === kept?.key
  }
  const isFormer = (key: string) =>
    isCurrent(key) || (signer !== undefined && isOf(signer, key)) || (kept?.keys.includes(key) ?? false)
  return { isCurrent, isFormer }
}

/** Where the key was not known from elsewhere. */
export const KEY_UNKNOWN =
  'The key is not known from elsewhere: who can change the log may have signed it anew. Give the key that you know with --key.'
