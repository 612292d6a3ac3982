import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { digest } from '../digest.ts'
import { readJson, writePrivateFile } from '../private-files.ts'

/**
 * The credentials for one server, as the file stores them. The device id is a credential too, so each server gets its own.
 * `login` is the session of `tracebook login`; `others` are sessions in other namespaces, for `sync --namespace`.
 */
export const Credentials = z.object({
  server: z.string(),
  deviceId: z.uuid(),
  login: z
    .object({ token: z.string(), userId: z.string(), namespaceId: z.string(), namespaceSlug: z.string() })
    .optional(),
  others: z.array(z.object({ namespaceId: z.string(), token: z.string() })),
  /** The new device id of a join that is under way, while the machine still has the one of another user. */
  joining: z.uuid().optional(),
})
export type Credentials = z.infer<typeof Credentials>

/** The folder with one file for each server, so that a token is never sent to another server. */
const credentialsDir = (config: string): string => join(config, 'servers')

const fileOf = (config: string, server: string) => join(credentialsDir(config), `${digest(server)}.json`)

/** The credentials for this server; undefined without any, or when the file belongs to another server. */
export const readCredentials = async (config: string, server: string): Promise<Credentials | undefined> => {
  const { data } = Credentials.safeParse(await readJson(fileOf(config, server)))
  return data?.server === server ? data : undefined
}

export const writeCredentials = (config: string, credentials: Credentials): Promise<void> =>
  writePrivateFile(fileOf(config, credentials.server), `${JSON.stringify(credentials, null, 2)}\n`)

/** Removes the tokens for a server. The device id stays, so that the next login is one of the same user. */
export const removeLogin = async (config: string, server: string): Promise<void> => {
  const stored = await readCredentials(config, server)
  if (stored) await writeCredentials(config, { server, deviceId: stored.deviceId, others: [] })
}

/** Keeps a copy of the credentials for a server, whose device id is the only way back to a user. Returns its path. */
export const setCredentialsAside = async (config: string, credentials: Credentials): Promise<string> => {
  const path = join(config, 'former-devices', `${credentials.deviceId}.json`)
  await writePrivateFile(path, `${JSON.stringify(credentials, null, 2)}\n`)
  return path
}

/** The URLs of all servers with a login. */
export const serversWithLogin = async (config: string): Promise<readonly string[]> => {
  const folder = credentialsDir(config)
  const names = await readdir(folder).catch(() => [])
  const read = names.filter((name) => name.endsWith('.json')).map((name) => readJson(join(folder, name)))
  return (await Promise.all(read)).flatMap((value) => {
    const { data } = Credentials.safeParse(value)
    return data?.login ? [data.server] : []
  })
}
