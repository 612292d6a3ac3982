import { z } from 'zod'
import { BadKey, isKeyName, parseSigner } from './note.ts'

const isSigner = (text: string): boolean => {
  try {
    parseSigner(text)
    return true
  } catch (error) {
    if (error instanceof BadKey) return false
    throw error
  }
}

/** The environment variables of the tree and its key; `../../commands/README.md` lists them with their defaults. */
export const proofSettings = {
  AUDIT_ORIGIN: z.string().refine(isKeyName, { error: 'must not contain spaces or plus signs' }).optional(),
  AUDIT_KEY: z
    .string()
    .refine(isSigner, { error: 'must be a signing key: PRIVATE+KEY+<name>+<hash>+<base64>' })
    .optional(),
  AUDIT_KEY_FILE: z.string().min(1).optional(),
  AUDIT_PUBLIC: z.enum(['on', 'off']).default('off'),
}

export type ProofSettings = z.output<z.ZodObject<typeof proofSettings>>

/** Refuses two keys, and a key whose name is not the origin: verifiers expect one name. */
export const checkProof = (settings: Partial<ProofSettings>, context: z.RefinementCtx): void => {
  const { AUDIT_ORIGIN: origin, AUDIT_KEY: key, AUDIT_KEY_FILE: file } = settings
  const refuse = (message: string) => context.addIssue({ code: 'custom', path: ['AUDIT_KEY'], message })
  if (key !== undefined && file !== undefined) refuse('is set as well as AUDIT_KEY_FILE: remove one of them')
  if (key === undefined || origin === undefined || !isSigner(key)) return
  const { name } = parseSigner(key)
  if (name !== origin) refuse(`is named ${name}, but AUDIT_ORIGIN is ${origin}: they must be the same`)
}
