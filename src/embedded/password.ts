import { randomBytes } from 'node:crypto'
import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Binaries } from './binaries.ts'
import type { Place } from './place.ts'
import { type Account, run } from './run.ts'

/** The superuser stays out: no line lets it in. */
const hba = (method: 'trust' | 'scram-sha-256') => `local all tracebook ${method}\n`

const fileOf = ({ dataDir }: Place) => join(dataDir, 'postgres.password')

/** For its owner's eyes only, and all of it or nothing, whenever the power goes. */
const keep = async (file: string, password: string) => {
  const fresh = `${file}.new`
  const handle = await open(fresh, 'w', 0o600)
  await handle.writeFile(password)
  await handle.sync().finally(() => handle.close())
  await rename(fresh, file)
}

const setPassword = async ({ cluster }: Place, { postgres }: Binaries, account: Account, password: string) => {
  const single = ['--single', '-D', cluster, '-c', 'exit_on_error=on', '-c', 'log_checkpoints=off', 'postgres']
  const { code, stderr } = await run(postgres, single, {
    account,
    // Nobody can guess it, so nothing is gained by making each connection compute for milliseconds.
    input: `SET scram_iterations = 1\nALTER ROLE tracebook PASSWORD '${password}'\n`,
  })
  if (code !== 0) throw new Error(`PostgreSQL does not take a password: ${stderr.slice(-2000).trim()}`)
}

/**
 * Who may connect to a server that is not running yet; gives the URL to connect with. Its socket is its account's alone.
 * Where that account is root's choice, others may run as it too: then only root, who can read the password, gets in.
 */
export const protect = async (place: Place, binaries: Binaries, account: Account | undefined): Promise<string> => {
  const hbaFile = join(place.cluster, 'pg_hba.conf')
  if (!account) {
    await writeFile(hbaFile, hba('trust'))
    return place.url
  }
  const file = fileOf(place)
  let password = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (password === undefined) {
    password = randomBytes(32).toString('base64url')
    await setPassword(place, binaries, account, password)
    await keep(file, password)
  }
  await writeFile(hbaFile, hba('scram-sha-256'))
  const url = new URL(place.url)
  url.password = password
  return url.href
}
