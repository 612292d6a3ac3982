import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../base/replace-file.ts'
import type { Binaries } from './binaries.ts'
import type { Paths } from './paths.ts'
import { runProgram, type RunOptions } from './run-program.ts'

/** Only the role `tracebook` may connect. There is no line for the superuser, so it cannot connect. */
const writeHba = ({ hbaFile }: Paths, method: 'trust' | 'scram-sha-256', mode: number) =>
  replaceFile(hbaFile, mode, (file) => file.writeFile(`local all tracebook ${method}\n`))

const passwordFile = ({ dataDir }: Paths) => join(dataDir, 'postgres.password')
/** A file in the cluster with the hash of its password: after a restore the password file may be of another cluster. */
const hashFile = ({ cluster }: Paths) => join(cluster, 'tracebook.password.sha256')

const read = (file: string) =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

const hashOf = (password: string) => createHash('sha256').update(password).digest('hex')

const setPassword = async (
  { cluster, marker }: Paths,
  { postgres }: Binaries,
  password: string,
  options: RunOptions,
) => {
  const settings = ['exit_on_error=on', 'log_checkpoints=off', `cluster_name=${marker}`].flatMap((one) => ['-c', one])
  const { code, stderr } = await runProgram(postgres, ['--single', '-D', cluster, ...settings, 'postgres'], {
    ...options,
    // The password has 256 random bits: more iterations would only make each connection slower.
    input: `SET scram_iterations = 1\nALTER ROLE tracebook PASSWORD '${password}'\n`,
  })
  if (code !== 0) throw new Error(`the password of PostgreSQL cannot be set: ${stderr.slice(-2000).trim()}`)
}

/** The cluster's password. Sets one if the stored password does not match the cluster. */
const ensurePassword = async (paths: Paths, binaries: Binaries, options: RunOptions): Promise<string> => {
  const [stored, hash] = [await read(passwordFile(paths)), await read(hashFile(paths))]
  if (stored !== undefined && hash === hashOf(stored)) return stored
  const password = stored ?? randomBytes(32).toString('base64url')
  if (stored === undefined) await replaceFile(passwordFile(paths), 0o600, (file) => file.writeFile(password))
  await setPassword(paths, binaries, password, options)
  await runProgram('/bin/sh', ['-c', 'printf %s "$1" > "$2"', 'sh', hashOf(password), hashFile(paths)], options)
  return password
}

/**
 * Configures who may connect, before the server starts, and returns the URL to connect with. Only the server's account can open
 * its socket. If root has chosen that account, other programs may run as it as well, so a password is required, which only root can
 * read.
 */
export const configureAuthentication = async (
  paths: Paths,
  binaries: Binaries,
  options: RunOptions,
): Promise<string> => {
  if (!options.account) {
    await writeHba(paths, 'trust', 0o600)
    return paths.url
  }
  const password = await ensurePassword(paths, binaries, options)
  await writeHba(paths, 'scram-sha-256', 0o644)
  const url = new URL(paths.url)
  url.password = password
  return url.href
}
