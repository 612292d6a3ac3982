import { createHash, randomBytes } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Binaries } from './binaries.ts'
import type { Place } from './paths.ts'
import { run, type RunOptions } from './run-program.ts'

/** The superuser stays out: no line lets it in. */
const hba = (method: 'trust' | 'scram-sha-256') => `local all tracebook ${method}\n`

const passwordFile = ({ dataDir }: Place) => join(dataDir, 'postgres.password')
/** Says in the cluster which password was set there: the cluster may be another one than the file is about. */
const noteFile = ({ cluster }: Place) => join(cluster, 'tracebook.password.sha256')

/** All of it or nothing, whenever the power goes; a link that somebody has put there is replaced, not followed. */
const replace = async (file: string, content: string, mode: number) => {
  const fresh = `${file}.new`
  const handle = await open(fresh, 'w', mode)
  await handle.chmod(mode)
  await handle.writeFile(content)
  await handle.sync().finally(() => handle.close())
  await rename(fresh, file)
}

const read = (file: string) =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

const hashOf = (password: string) => createHash('sha256').update(password).digest('hex')

const setPassword = async (
  { cluster, marker }: Place,
  { postgres }: Binaries,
  password: string,
  options: RunOptions,
) => {
  const settings = ['exit_on_error=on', 'log_checkpoints=off', `cluster_name=${marker}`].flatMap((one) => ['-c', one])
  const { code, stderr } = await run(postgres, ['--single', '-D', cluster, ...settings, 'postgres'], {
    ...options,
    // Nobody can guess it, so nothing is gained by making each connection compute for milliseconds.
    input: `SET scram_iterations = 1\nALTER ROLE tracebook PASSWORD '${password}'\n`,
  })
  if (code !== 0) throw new Error(`PostgreSQL does not take a password: ${stderr.slice(-2000).trim()}`)
}

/** The password that the cluster knows; a new one where the two do not belong together. */
const passwordOf = async (place: Place, binaries: Binaries, options: RunOptions): Promise<string> => {
  const [known, note] = [await read(passwordFile(place)), await read(noteFile(place))]
  if (known !== undefined && note === hashOf(known)) return known
  const password = known ?? randomBytes(32).toString('base64url')
  if (known === undefined) await replace(passwordFile(place), password, 0o600)
  await setPassword(place, binaries, password, options)
  await run('/bin/sh', ['-c', 'printf %s "$1" > "$2"', 'sh', hashOf(password), noteFile(place)], options)
  return password
}

/**
 * Who may connect to a server that is not running yet; gives the URL to connect with. Its socket is its account's alone.
 * Where that account is root's choice, others may run as it too: then only who can read the password, root, gets in.
 */
export const protect = async (place: Place, binaries: Binaries, options: RunOptions): Promise<string> => {
  if (!options.account) {
    await replace(place.hbaFile, hba('trust'), 0o600)
    return place.url
  }
  const password = await passwordOf(place, binaries, options)
  await replace(place.hbaFile, hba('scram-sha-256'), 0o644)
  const url = new URL(place.url)
  url.password = password
  return url.href
}
