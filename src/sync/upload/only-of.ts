import { realpathSync } from 'node:fs'
import { resolve, sep } from 'node:path'
import type { DestinationOf } from './destination.ts'

const realPath = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

/** Sends only the sessions whose agent worked in `folder` or below it; all without a folder. */
export const onlyOf = (folder: string | undefined, destinationOf: DestinationOf): DestinationOf => {
  if (folder === undefined) return destinationOf
  const wanted = realPath(folder)
  return async (origin) => {
    const project = origin.projectPath === undefined ? undefined : realPath(origin.projectPath)
    const isWanted = project === wanted || project?.startsWith(wanted + sep) === true
    return isWanted ? destinationOf(origin) : { notSent: 'of another project' }
  }
}
