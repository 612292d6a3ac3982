import { readFile } from 'node:fs/promises'
import { exitCodes } from '../../cli/exit.ts'
import { explainMissingFile } from '../../cli/missing-file.ts'
import { printDocument, printLines } from '../../cli/output.ts'
import { BadBundle, Bundle, type Proven, checkBundle, describeProven } from '../../proof/bundle.ts'

const readBundle = async (path: string): Promise<Bundle> => {
  const text = await readFile(path, 'utf8').catch(explainMissingFile(path))
  try {
    return Bundle.parse(JSON.parse(text))
  } catch (error) {
    throw new BadBundle(`${path} is no bundle of \`tracebook audit proof\``, { cause: error })
  }
}

const provenDocument = ({ origin, event, index, size, key }: Proven, isKnownKey: boolean) => {
  const { id, stream, type } = event
  return { type: 'proven', origin, index, size, key, isKnownKey, event: { id, stream, type } }
}

/** Checks a bundle without the service, and says in words what it proves. */
export const verifyOffline = async (
  path: string,
  { key, json = false }: { readonly key?: string; readonly json?: boolean },
): Promise<number> => {
  try {
    const proven = checkBundle(await readBundle(path), key)
    const isKnownKey = key !== undefined
    await (json
      ? printDocument(provenDocument(proven, isKnownKey))
      : printLines(describeProven(proven, isKnownKey).split('\n')))
    return exitCodes.ok
  } catch (error) {
    if (!(error instanceof BadBundle)) throw error
    const reason = error.message
    await (json ? printDocument({ type: 'refused', reason }) : printLines([`NOT proven: ${reason}`]))
    return exitCodes.found
  }
}
