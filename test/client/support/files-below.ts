import { readdirSync } from 'node:fs'

/** The paths of all files and folders below a folder, sorted. */
export const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
