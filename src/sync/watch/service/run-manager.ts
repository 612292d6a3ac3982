import { execFile } from 'node:child_process'
import { mkdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { NoServiceManager, type ServicePlace } from './service.ts'

export type Ran = { readonly code: number; readonly out: string; readonly err: string }

/** Long enough for a service that has to end first, in milliseconds. */
const TIMEOUT_MS = 30_000

/** Runs a program of the system to its end. Throws NoServiceManager when there is none of that name. */
export const runManager = (program: string, args: readonly string[], { env }: ServicePlace): Promise<Ran> =>
  new Promise((resolve, reject) => {
    execFile(program, args, { env, timeout: TIMEOUT_MS, encoding: 'utf8' }, (error, out, err) => {
      if (error?.code === 'ENOENT') reject(new NoServiceManager(`there is no ${program}`))
      else resolve({ code: !error ? 0 : typeof error.code === 'number' ? error.code : 1, out, err })
    })
  })

/** The same. Throws NoServiceManager when it fails. */
export const requireManager = async (program: string, args: readonly string[], place: ServicePlace): Promise<Ran> => {
  const ran = await runManager(program, args, place)
  if (ran.code !== 0)
    throw new NoServiceManager(
      `${program} ${args.join(' ')}: ${ran.err.trim() || ran.out.trim() || `exit code ${ran.code}`}`,
    )
  return ran
}

/** Writes the file that describes the service: only its owner may read what it holds of the environment. */
export const writeDescription = async (file: string, text: string): Promise<void> => {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text, { mode: 0o600 })
}

/** Removes a file, and the folders that hold nothing any more, from the first of `folders` on. */
export const removeWithFolders = async (file: string, folders: readonly string[]): Promise<void> => {
  await rm(file, { force: true })
  for (const folder of folders) {
    const isRemoved = await rmdir(folder).then(
      () => true,
      () => false,
    )
    if (!isRemoved) return
  }
}
