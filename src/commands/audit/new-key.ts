import { UsageError, exitCodes } from '../../cli/exit.ts'
import { printLines, say } from '../../cli/output.ts'
import { generateSigner, isKeyName } from '../../server/proof/note.ts'

export const newKey = async (_options: object, origin: string): Promise<number> => {
  if (!isKeyName(origin))
    throw new UsageError(`"${origin}" is not a valid origin: it must not contain spaces or plus signs.`)
  const { text, verifier } = generateSigner(origin)
  await printLines([text])
  say(`public key: ${verifier.text}`)
  return exitCodes.ok
}
