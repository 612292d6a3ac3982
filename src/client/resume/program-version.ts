import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beginningOf } from './project-folder.ts'
import type { Place, Target } from './targets.ts'

/** The newest of the agent's session files. */
const newestOf = async (
  folders: readonly string[],
  isSession: (path: string) => boolean,
): Promise<string | undefined> => {
  let newest: { readonly path: string; readonly at: number } | undefined
  for (const folder of folders) {
    const names = await readdir(folder, { recursive: true }).catch(() => [])
    for (const path of names.map((name) => join(folder, name)).filter(isSession)) {
      const at = (await stat(path).catch(() => undefined))?.mtimeMs ?? 0
      if (at > (newest?.at ?? 0)) newest = { path, at }
    }
  }
  return newest?.path
}

/** The version of the agent's program that has written the newest session of this machine, so that what is written now looks like its own. */
export const programVersion = async ({ agent, version }: Target, { env, home }: Place): Promise<string> => {
  const newest = await newestOf(agent.roots(env, home), agent.isSessionFile)
  const beginning = newest === undefined ? '' : await beginningOf(newest).catch(() => '')
  const [, after = ''] = beginning.split(`"${version.member}":"`)
  return /^\d{1,6}\.\d{1,6}\.\d{1,6}(?=")/.exec(after)?.[0] ?? version.otherwise
}
