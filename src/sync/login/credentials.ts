import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { digest } from '../agents/keys.ts'
import { credentialsFolder } from '../config.ts'
import { readJson, writePrivate } from '../private-files.ts'

/**
 * What is kept for one server. The device id is a credential, so each server gets its own. `login` is the session of
 * `tracebook login`; `others` are tokens of sessions in other namespaces, by namespace id.
 */
export const Credentials = z.object({
  server: z.string(),
  deviceId: z.uuid(),
  login: z
    .object({ token: z.string(), userId: z.string(), namespaceId: z.string(), namespaceSlug: z.string() })
    .optional(),
  others: z.array(z.object({ namespaceId: z.string(), token: z.string() })),
})
export type Credentials = z.infer<typeof Credentials>

const fileOf = (config: string, server: string) => join(credentialsFolder(config), `${digest(server)}.json`)

/** The credentials for exactly this server; undefined when there are none. */
export const readCredentials = async (config: string, server: string): Promise<Credentials | undefined> => {
  const { data } = Credentials.safeParse(await readJson(fileOf(config, server)))
  return data?.server === server ? data : undefined
}

export const writeCredentials = (config: string, credentials: Credentials): Promise<void> =>
  writePrivate(fileOf(config, credentials.server), `${JSON.stringify(credentials, null, 2)}\n`)

/** The addresses of all servers with a login. */
export const knownServers = async (config: string): Promise<readonly string[]> => {
  const folder = credentialsFolder(config)
  const names = await readdir(folder).catch(() => [])
  const read = names.filter((name) => name.endsWith('.json')).map((name) => readJson(join(folder, name)))
  return (await Promise.all(read)).flatMap((value) => {
    const { data } = Credentials.safeParse(value)
    return data?.login ? [data.server] : []
  })
}
