import { watch } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

const CALM_MS = 100

/** Watches folders below the root. `next` waits for changes and returns their paths from the root, or none once aborted. */
export const watchFolders = (root: string, folders: readonly string[], signal: AbortSignal) => {
  const changed = new Set<string>()
  let tell = () => {}
  const look = async (folder: string) => {
    for await (const { filename } of watch(join(root, folder), { recursive: true, signal })) {
      changed.add(join(folder, filename ?? ''))
      tell()
    }
  }
  const ended = Promise.all(folders.map(look)).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
  const next = async (): Promise<string[]> => {
    if (changed.size === 0) await Promise.race([ended, new Promise<void>((resolve) => (tell = resolve))])
    await setTimeout(CALM_MS) // an editor writes a file more than once
    const paths = [...changed]
    changed.clear()
    return paths
  }
  return { next }
}
