import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { replaceFile } from '../base/replace-file.ts'

const Owner = z.object({
  pid: z.int().positive(),
  url: z.string().optional(),
  databaseUrl: z.string().optional(),
  /** The owner is restoring a backup. If it was killed, the folder is incomplete. */
  restores: z.boolean().optional(),
})
type Owner = z.infer<typeof Owner>

/** The URLs of a running service and of its database. */
export type Address = { readonly url: string; readonly databaseUrl: string }
export type RunningService = Address & { readonly pid: number }

export const ownerFile = (dataDir: string) => join(dataDir, 'tracebook.json')

/** Replaces the file atomically, readable only by its owner, because the database URL may have a password. */
export const writeOwner = async (dataDir: string, owner: Owner): Promise<void> => {
  await replaceFile(ownerFile(dataDir), 0o600, (file) => file.writeFile(`${JSON.stringify(owner)}\n`))
}

/**
 * The file of the last owner, which may have ended since; undefined if there is none.
 * @throws Error if the file exists but cannot be read
 */
export const readOwner = async (dataDir: string): Promise<Owner | undefined> => {
  const written = await readFile(ownerFile(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  try {
    return Owner.parse(JSON.parse(written ?? 'null'))
  } catch {
    // No file, or a damaged one after a power failure.
    return undefined
  }
}
