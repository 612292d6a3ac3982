import { existsSync } from 'node:fs'
import { basename, delimiter, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** How the command was started. */
export type Started = {
  /** The script as Node was given it: the link in a folder of commands, where it is installed. */
  readonly script: string
  /** The folder of the package: a clone, or where it is installed. */
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

/** The folder in which npx finds this package without asking a registry: the clone, or the project that it is installed in. */
const npxFolder = (root: string): string => {
  const [project = root] = root.split(`${sep}node_modules${sep}`)
  return project
}

/** A word for a POSIX shell, quoted where it has to be. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/**
 * How the user can call the command again, in the folder where it was called: by its name where that is on the path, through npx
 * where the package is at hand, else by its file. npx is never named anywhere else: it would ask the public registry for the name.
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

/** A source is in `src`, what is built from it in `dist/src`. */
const packageRoot = (): string => {
  const above = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  return existsSync(above('../tracebook.js')) ? above('../..') : above('../../..')
}

/** The same for this process, for hints that can be copied. */
export const commandName = commandNameFor({
  script: process.argv[1] ?? '',
  root: packageRoot().replace(/[/\\]$/, ''),
  cwd: process.cwd(),
  execPath: process.execPath,
  env: process.env,
})
