import { existsSync } from 'node:fs'
import { basename, delimiter, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** How the program was started. */
export type Started = {
  /** The script as Node was given it; for an installed program the link in a folder of the path. */
  readonly script: string
  /** The folder of the package: a clone, or its place in `node_modules`. */
  readonly root: string
  readonly cwd: string
  readonly execPath: string
  readonly env: Readonly<Record<string, string | undefined>>
}

const BIN = join('node_modules', '.bin')

const isWithin = (path: string, folder: string): boolean => {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !way.startsWith(sep)
}

/** The folder in which npx finds this package without a registry: the clone, or the project in which it is installed. */
const npxFolder = (root: string): string => {
  const [project = root] = root.split(`${sep}node_modules${sep}`)
  return project
}

/** A word for a POSIX shell, quoted where it has to be. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/**
 * How the user can call the program again in the same folder: by its name if that is on the path, by npx if npx finds the package
 * here, else by its file. Elsewhere npx must not be suggested: it would ask the public registry for the name.
 */
export const commandNameFor = ({ script, root, cwd, execPath, env }: Started): string => {
  const folder = dirname(script)
  const isOnPath = (env['PATH'] ?? '').split(delimiter).includes(folder) && !folder.endsWith(BIN)
  if (basename(script) === 'tracebook' && isOnPath) return 'tracebook'
  if (isWithin(env['INIT_CWD'] ?? cwd, npxFolder(root))) return 'npx tracebook'
  // npm puts other folders on the path, so that "node" may be another one there.
  const node = env['npm_command'] === undefined ? 'node' : shellWord(execPath)
  return `${node} ${shellWord(join(root, 'src', 'tracebook.js'))}`
}

/** This file is in `src`, or in `dist/src` of a built package. */
const packageRoot = (): string => {
  const above = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  return existsSync(above('../tracebook.js')) ? above('../..') : above('../../..')
}

/** The same for this process: the beginning of commands in messages, which can be copied. */
export const commandName = commandNameFor({
  script: process.argv[1] ?? '',
  root: packageRoot().replace(/[/\\]$/, ''),
  cwd: process.cwd(),
  execPath: process.execPath,
  env: process.env,
})
