import { BadKey, type Signer, parseVerifier, renameSigner } from '../../server/proof/note.ts'
import type { TrustedKeys } from '../../server/proof/verify/verify-log.ts'

type KeySources = {
  /** The key of --key. */
  readonly given?: string | undefined
  /** The keys of --accept-key: they have replaced another one, or were replaced. */
  readonly accepted: readonly string[]
  /** The configured key of the service. */
  readonly signer?: Signer | undefined
  /** The keys of the last verified checkpoint. */
  readonly kept?: { readonly key: string; readonly keys: readonly string[] } | undefined
}

/** Whether a key is that of the signer under any name; the name of an embedded service is `AUDIT_ORIGIN`, which may change. */
const isOf = (signer: Signer, key: string): boolean => {
  try {
    return renameSigner(signer, parseVerifier(key).name).verifier.text === key
  } catch (error) {
    if (error instanceof BadKey) return false
    throw error
  }
}

/** The keys that may sign the log: the given one, else the configured one, else the kept one. Undefined if none is known. */
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

/** Reported if no key was known. */
export const KEY_UNKNOWN =
  'The key was not checked: anyone who can change the log could have signed it with a new key. Give the key that you know with --key.'
