import { readFile } from 'node:fs/promises'
import { escapeControlsInLines } from '../../cli/escape.ts'
import { exitCodes } from '../../cli/exit.ts'
import { explainMissingFile } from '../../cli/missing-file.ts'
import { BadBundle, Bundle, type Proven, checkBundle, describeProven } from '../../proof/bundle.ts'

const readBundle = async (path: string): Promise<Bundle> => {
  const text = await readFile(path, 'utf8').catch(explainMissingFile(path))
  try {
    return Bundle.parse(JSON.parse(text))
  } catch (error) {
    throw new BadBundle(`${path} is no bundle of \`tracebook audit proof\``, { cause: error })
  }
}

const provenJson = ({ origin, event, index, size, key }: Proven, isKnownKey: boolean): string => {
  const { id, stream, type } = event
  return JSON.stringify({ type: 'proven', origin, index, size, key, isKnownKey, event: { id, stream, type } })
}

/** Checks a bundle without the service, and says in words what it proves. */
export const verifyOffline = async (
  path: string,
  { key, json = false }: { readonly key?: string; readonly json?: boolean },
): Promise<number> => {
  try {
    const proven = checkBundle(await readBundle(path), key)
    const isKnownKey = key !== undefined
    console.log(json ? provenJson(proven, isKnownKey) : escapeControlsInLines(describeProven(proven, isKnownKey)))
    return exitCodes.ok
  } catch (error) {
    if (!(error instanceof BadBundle)) throw error
    console.log(json ? JSON.stringify({ type: 'refused', reason: error.message }) : `NOT proven: ${error.message}`)
    return exitCodes.found
  }
}
