import { existsSync, readFileSync } from 'node:fs'
import { basename, delimiter, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shellWord } from '../base/escape.ts'

/** How the program was started. */
export type Started = {
  /** The script as Node was given it; for an installed program the link in a folder of the path. */
  readonly script: string
  /** The folder of the package: a clone, or its place in `node_modules`. */
  readonly root: string
  readonly cwd: string
  readonly execPath: string
  /** The address from which npx has fetched the package. */
  readonly fetchedFrom?: string | undefined
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

/**
 * How the user can call the program again in the same folder: by its name if that is on the path, by npx from the address at which npx has fetched it,
 * or from here if npx finds the package here, else by its file. Otherwise npx must not be suggested: it would ask the public registry for the name.
 */
export const commandNameFor = ({ script, root, cwd, execPath, env, fetchedFrom }: Started): string => {
  const folder = dirname(script)
  const isOnPath = (env['PATH'] ?? '').split(delimiter).includes(folder) && !folder.endsWith(BIN)
  if (basename(script) === 'tracebook' && isOnPath) return 'tracebook'
  if (fetchedFrom !== undefined) return `npx --yes ${shellWord(fetchedFrom)}`
  if (isWithin(env['INIT_CWD'] ?? cwd, npxFolder(root))) return 'npx tracebook'
  // npm puts other folders on the path, so that "node" may be another one there.
  const node = env['npm_command'] === undefined ? 'node' : shellWord(execPath)
  return `${node} ${shellWord(join(root, 'src', 'tracebook.js'))}`
}

/** This file is in `src`, in `dist/src` of a built package, or bundled into `src/tracebook.js` of the client's package. */
const packageRoot = (): string => {
  const above = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  if (existsSync(above('../tracebook.js'))) return above('../..')
  return existsSync(above('tracebook.js')) ? above('..') : above('../../..')
}

const root = packageRoot().replace(/[/\\]$/, '')

/** The address from which npx has fetched the package into its cache, as it notes there; undefined if it has not. */
export const fetchedByNpx = (root: string): string | undefined => {
  const [cache = '', inside] = root.split(`${sep}node_modules${sep}`)
  if (inside === undefined || basename(dirname(cache)) !== '_npx') return undefined
  try {
    const { dependencies } = JSON.parse(readFileSync(join(cache, 'package.json'), 'utf8')) as {
      readonly dependencies?: { readonly tracebook?: unknown }
    }
    const from = dependencies?.tracebook
    return typeof from === 'string' && /^https?:\/\//.test(from) ? from : undefined
  } catch {
    return undefined
  }
}

/** The address from which npx has fetched the program that runs; undefined if it has not. */
export const fetchedFrom = fetchedByNpx(root)

/** The same for this process: the beginning of commands in messages, which can be copied. */
export const commandName = commandNameFor({
  script: process.argv[1] ?? '',
  root,
  cwd: process.cwd(),
  execPath: process.execPath,
  env: process.env,
  fetchedFrom,
})
