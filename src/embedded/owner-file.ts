import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const Owner = z.object({ pid: z.int().positive(), url: z.string().optional(), databaseUrl: z.string().optional() })
type Owner = z.infer<typeof Owner>

/** Where a running Tracebook answers and where its database is. */
export type Address = { readonly url: string; readonly databaseUrl: string }
export type Running = Address & { readonly pid: number }

export const runningFile = (dataDir: string) => join(dataDir, 'tracebook.json')

/** Replaces the file at once, for its owner's eyes only: a database URL may hold a password. */
export const writeRunning = async (dataDir: string, owner: { readonly pid: number } | Running): Promise<void> => {
  const file = runningFile(dataDir)
  const fresh = `${file}.new`
  await writeFile(fresh, `${JSON.stringify(owner)}\n`, { mode: 0o600 })
  await rename(fresh, file)
}

/**
 * What the last owner wrote, dead or alive; undefined when there is nothing.
 * @throws Error when the file cannot be read
 */
export const readOwner = async (dataDir: string): Promise<Owner | undefined> => {
  const written = await readFile(runningFile(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  try {
    return Owner.parse(JSON.parse(written ?? 'null'))
  } catch {
    // Nothing, or what a power cut left of it.
    return undefined
  }
}
