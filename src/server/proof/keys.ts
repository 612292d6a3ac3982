import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../base/replace-file.ts'
import { type Signer, BadKey, generateSigner, parseSigner, renameSigner } from './note.ts'
import type { ProofSettings } from './settings.ts'

type KeySettings = Pick<ProofSettings, 'AUDIT_ORIGIN' | 'AUDIT_KEY' | 'AUDIT_KEY_FILE'> & {
  readonly PUBLIC_URL?: string | undefined
}

/** The origin of a service without a public address. */
const UNNAMED_HOST = 'tracebook.invalid'
const DEFAULT_ORIGIN = `${UNNAMED_HOST}/log`

/** The origin of a log for a new key. */
const originOf = ({ AUDIT_ORIGIN, PUBLIC_URL }: KeySettings): string =>
  AUDIT_ORIGIN ?? (PUBLIC_URL ? new URL(PUBLIC_URL).host : DEFAULT_ORIGIN)

/**
 * What an operator should be told about a key that names no host although people know the service by one: people keep checkpoints and
 * public keys under this name. Undefined for any other key.
 */
export const originWarning = ({ name }: Signer, settings: KeySettings): string | undefined => {
  if (name.split('/')[0] !== UNNAMED_HOST || settings.PUBLIC_URL === undefined) return undefined
  const { host } = new URL(settings.PUBLIC_URL)
  const isOwn = settings.AUDIT_KEY === undefined && settings.AUDIT_KEY_FILE === undefined
  const remedy = isOwn
    ? `set AUDIT_ORIGIN=${host}`
    : `give the workers a key that \`tracebook audit new-key ${host}\` makes`
  return (
    `checkpoints name the log ${name}, but PUBLIC_URL is ${settings.PUBLIC_URL}: ${remedy}. ` +
    'Whoever has kept a checkpoint accepts the other name once, with --accept-key'
  )
}

const readKeyFile = async (path: string): Promise<Signer | undefined> => {
  try {
    return parseSigner((await readFile(path, 'utf8')).trim())
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    const { message } = error as Error
    throw new Error(`${path}: ${error instanceof BadKey ? message : `cannot be read: ${message}`}`, { cause: error })
  }
}

const KEY_FILE = 'audit.key'

/**
 * The key in `DATA_DIR`; creates it if there is none. It keeps its first name even if `PUBLIC_URL` changes: with another name it is
 * another key and another log for all who have kept a checkpoint. Only `AUDIT_ORIGIN` renames it.
 */
const ownKey = async (dataDir: string, settings: KeySettings): Promise<Signer> => {
  const path = join(dataDir, KEY_FILE)
  const known = await readKeyFile(path)
  if (known) return renameSigner(known, settings.AUDIT_ORIGIN ?? known.name)
  const made = generateSigner(originOf(settings))
  await replaceFile(path, 0o600, (file) => file.writeFile(`${made.text}\n`))
  return made
}

const configuredFile = async (path: string, { AUDIT_ORIGIN: origin }: KeySettings): Promise<Signer> => {
  const signer = await readKeyFile(path)
  if (!signer)
    throw new Error(
      `AUDIT_KEY_FILE: ${path} does not exist: create it with \`tracebook audit new-key\`, or correct the path`,
    )
  if (origin === undefined || signer.name === origin) return signer
  throw new Error(
    `AUDIT_KEY_FILE: the key is named ${signer.name}, but AUDIT_ORIGIN is ${origin}: they must be the same`,
  )
}

/** The configured key; undefined without one. @throws Error that names the variable or file */
const configuredSigner = async (settings: KeySettings): Promise<Signer | undefined> => {
  const { AUDIT_KEY: key, AUDIT_KEY_FILE: file } = settings
  if (key !== undefined) return parseSigner(key)
  return file === undefined ? undefined : configuredFile(file, settings)
}

/**
 * The key that signs checkpoints: the configured one, which names the origin, otherwise that of an embedded database, in
 * `dataDir`. Undefined without both.
 * @throws Error that names the variable or file
 */
export const readSigner = async (settings: KeySettings, dataDir: string | undefined): Promise<Signer | undefined> => {
  const configured = await configuredSigner(settings)
  return configured ?? (dataDir === undefined ? undefined : ownKey(dataDir, settings))
}

/** The key that signs checkpoints, for readers of them: as `readSigner`, but creates no key, and a key of `dataDir` keeps its name. */
export const readPresentSigner = async (
  settings: KeySettings,
  dataDir: string | undefined,
): Promise<Signer | undefined> => {
  const configured = await configuredSigner(settings)
  return configured ?? (dataDir === undefined ? undefined : readKeyFile(join(dataDir, KEY_FILE)))
}
