import { join } from 'node:path'
import { z } from 'zod'
import { type Checkpoint, openCheckpoint } from '../../proof/checkpoint.ts'
import { parseVerifier } from '../../proof/note.ts'
import { configDir } from '../../sync/config.ts'
import { digest } from '../../sync/digest.ts'
import { readJson, writePrivateFile } from '../../sync/private-files.ts'

/** The newest checkpoint that was verified at a place: a server, a database or a folder. */
const Kept = z.object({ place: z.string(), key: z.string(), note: z.string() })

export type KeptCheckpoint = Checkpoint & { readonly key: string }

const fileOf = (place: string) => join(configDir(process.env), 'audit', `${digest(place)}.json`)

/** The checkpoint that was kept of this place; undefined at the first time. @throws Error for a file that was changed */
export const readKept = async (place: string): Promise<KeptCheckpoint | undefined> => {
  const file = fileOf(place)
  const found = Kept.safeParse(await readJson(file)).data
  if (found?.place !== place) return undefined
  try {
    return { ...openCheckpoint(found.note, parseVerifier(found.key)), key: found.key }
  } catch (error) {
    throw new Error(`${file} does not hold a checkpoint any more: ${(error as Error).message}`, { cause: error })
  }
}

export const writeKept = (place: string, { key, note }: { readonly key: string; readonly note: string }) =>
  writePrivateFile(fileOf(place), `${JSON.stringify({ place, key, note }, null, 2)}\n`)
