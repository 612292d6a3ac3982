import { UsageError, exitCodes } from '../../cli/exit.ts'
import { generateSigner, isKeyName } from '../../proof/note.ts'

export const newKey = async (_options: object, origin: string): Promise<number> => {
  if (!isKeyName(origin)) throw new UsageError(`"${origin}" cannot name a log: no spaces, no plus signs`)
  const { text, verifier } = generateSigner(origin)
  console.log(text)
  console.error(`public key: ${verifier.text}`)
  return exitCodes.ok
}
