import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { io } from '../../cli/io.ts'
import { z } from 'zod'
import { type Checkpoint, openCheckpoint } from '../../server/proof/checkpoint.ts'
import { parseVerifier } from '../../server/proof/note.ts'
import { configDir } from '../../client/config.ts'
import { digest } from '../../client/digest.ts'
import { readJson, writePrivateFile } from '../../client/private-files.ts'
import { serverKey } from '../../client/server-key.ts'

/** The newest verified checkpoint of a log, the keys that had signed until then, and the addresses at which it was served. */
const Kept = z.object({
  log: z.string(),
  origin: z.string(),
  key: z.string(),
  keys: z.array(z.string()),
  note: z.string(),
  /** Normalized by `serverKey`. Older versions kept none. */
  addresses: z.array(z.string().transform(serverKey)).default([]),
})
export type Kept = z.infer<typeof Kept>

export type KeptCheckpoint = Checkpoint & Pick<Kept, 'key' | 'keys'>

const folder = () => join(configDir(io().env), 'audit')

/** Named by the log itself, which may have many addresses. */
const fileOf = ({ log, origin }: Pick<Kept, 'log' | 'origin'>) => join(folder(), `${digest(`${log}\n${origin}`)}.json`)

/** The kept checkpoints of all logs. */
export const readAllKept = async (): Promise<Kept[]> => {
  const names = await readdir(folder()).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const files = names.filter((name) => name.endsWith('.json')).map((name) => readJson(join(folder(), name)))
  return (await Promise.all(files)).flatMap((file) => Kept.safeParse(file).data ?? [])
}

const write = (kept: Kept): Promise<void> => writePrivateFile(fileOf(kept), `${JSON.stringify(kept, null, 2)}\n`)

/** @throws Error for a file that was changed */
const open = (kept: Kept): KeptCheckpoint => {
  const { note, key, keys } = kept
  try {
    return { ...openCheckpoint(note, parseVerifier(key)), key, keys }
  } catch (error) {
    const reason = (error as Error).message
    throw new Error(`${fileOf(kept)} no longer holds a valid checkpoint: ${reason}`, { cause: error })
  }
}

/**
 * The largest checkpoint kept of the log with this id, whatever its origin was; undefined before the first check.
 * @throws Error for a file that was changed
 */
export const readKept = async (log: string): Promise<KeptCheckpoint | undefined> =>
  (await readAllKept())
    .filter((one) => one.log === log)
    .map(open)
    .sort((a, b) => a.size - b.size)
    .at(-1)

/**
 * Keeps a checkpoint in place of all that were kept of its log, also under another origin. The address it was fetched from now
 * belongs to this log, and no longer to another one.
 */
export const writeKept = async (kept: Omit<Kept, 'addresses'>, servedAt?: string): Promise<void> => {
  const address = servedAt && serverKey(servedAt)
  const all = await readAllKept()
  const [same, others] = [all.filter(({ log }) => log === kept.log), all.filter(({ log }) => log !== kept.log)]
  const addresses = new Set([...same.flatMap((one) => one.addresses), ...(address === undefined ? [] : [address])])
  await write({ ...kept, addresses: [...addresses] })
  for (const one of same) if (one.origin !== kept.origin) await rm(fileOf(one), { force: true })
  for (const one of others)
    if (one.addresses.some((known) => known === address))
      await write({ ...one, addresses: one.addresses.filter((known) => known !== address) })
}

/** Reported by the first check of a log. */
export const NOTHING_KEPT =
  'No checkpoint of this log was kept before, so it is unknown whether others have seen the same log.'
