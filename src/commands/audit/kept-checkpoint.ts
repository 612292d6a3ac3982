import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type Checkpoint, openCheckpoint } from '../../proof/checkpoint.ts'
import { parseVerifier } from '../../proof/note.ts'
import { configDir } from '../../sync/config.ts'
import { digest } from '../../sync/digest.ts'
import { readJson, writePrivateFile } from '../../sync/private-files.ts'

/** The newest checkpoint of a log that was verified, and the keys that had signed until then. */
const Kept = z.object({
  log: z.string(),
  origin: z.string(),
  key: z.string(),
  keys: z.array(z.string()),
  note: z.string(),
})
type Kept = z.infer<typeof Kept>

export type KeptCheckpoint = Checkpoint & Pick<Kept, 'key' | 'keys'>

const folder = () => join(configDir(process.env), 'audit')

/** By the log itself: its address may be spelled in many ways. */
const fileOf = ({ log, origin }: Pick<Kept, 'log' | 'origin'>) => join(folder(), `${digest(`${log}\n${origin}`)}.json`)

/** All that is kept of whatever log. */
const readAll = async (): Promise<Kept[]> => {
  const names = await readdir(folder()).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const files = names.filter((name) => name.endsWith('.json')).map((name) => readJson(join(folder(), name)))
  return (await Promise.all(files)).flatMap((file) => Kept.safeParse(file).data ?? [])
}

/** @throws Error for a file that was changed */
const open = (kept: Kept): KeptCheckpoint => {
  const { note, key, keys } = kept
  try {
    return { ...openCheckpoint(note, parseVerifier(key)), key, keys }
  } catch (error) {
    const reason = (error as Error).message
    throw new Error(`${fileOf(kept)} does not hold a checkpoint any more: ${reason}`, { cause: error })
  }
}

/**
 * The largest checkpoint that was kept of the log with this id, whatever its origin was; undefined at the first time.
 * @throws Error for a file that was changed
 */
export const readKept = async (log: string): Promise<KeptCheckpoint | undefined> =>
  (await readAll())
    .filter((one) => one.log === log)
    .map(open)
    .sort((a, b) => a.size - b.size)
    .at(-1)

/** Whether something was kept of a log with this origin and another id. */
const wasOtherLogKept = async (log: string, origin: string): Promise<boolean> =>
  (await readAll()).some((one) => one.origin === origin && one.log !== log)

/** Keeps a checkpoint in the place of all that was kept of its log, also under another origin. */
export const writeKept = async (kept: Kept): Promise<void> => {
  await writePrivateFile(fileOf(kept), `${JSON.stringify(kept, null, 2)}\n`)
  const others = (await readAll()).filter(({ log, origin }) => log === kept.log && origin !== kept.origin)
  for (const one of others) await rm(fileOf(one), { force: true })
}

/** What a first check cannot say. */
export const nothingKept = async (log: string, origin: string | undefined): Promise<string> => {
  const other = origin !== undefined && (await wasOtherLogKept(log, origin))
  return `Nothing was kept of this log before: whether it is the one that others have seen cannot be told.${
    other ? ` Another log with the origin ${origin} was checked before; its id was another one.` : ''
  }`
}
