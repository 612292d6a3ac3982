import { join } from 'node:path'
import envPaths from 'env-paths'
import { UsageError } from '../cli/exit.ts'
import { isLoopback } from '../base/loopback.ts'
import { trimEndMatching } from '../base/texts.ts'
import type { EnvironmentVariables } from './agents/agent.ts'
import { lastServer, presentAddress } from './login/credentials.ts'

const DEFAULT_SERVER = 'http://127.0.0.1:3000'

/** The folder of credentials and settings: `TRACEBOOK_CONFIG_DIR`, else the platform's folder for configuration. */
export const configDir = (env: EnvironmentVariables): string =>
  env['TRACEBOOK_CONFIG_DIR'] || envPaths('tracebook', { suffix: '' }).config

/**
 * The folder of what was uploaded: `TRACEBOOK_DATA_DIR`, else `data` in `TRACEBOOK_CONFIG_DIR`, so that one variable keeps two
 * users of a machine apart, else the platform's folder for data.
 */
export const stateDir = (env: EnvironmentVariables): string =>
  env['TRACEBOOK_DATA_DIR'] ||
  (env['TRACEBOOK_CONFIG_DIR'] ? join(env['TRACEBOOK_CONFIG_DIR'], 'data') : envPaths('tracebook', { suffix: '' }).data)

/** The address that was meant where the scheme alone is missing. */
const suggestionFor = (text: string): string => {
  const url = text.includes('://') ? null : URL.parse(`http://${text}`)
  if (!url) return ': it begins with http:// or https://'
  return `. Did you mean ${isLoopback(url.hostname) ? 'http' : 'https'}://${text}?`
}

/**
 * The server's base URL, without a trailing slash: `option`, else `TRACEBOOK_URL`, else the server of the last login, else the
 * local one. Throws UsageError for anything but an http(s) URL, and for one with a user name or password.
 */
export const givenAddress = (option: string | undefined, env: EnvironmentVariables): string => {
  const text = option ?? (env['TRACEBOOK_URL'] || (lastServer(configDir(env)) ?? DEFAULT_SERVER))
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageError(`"${text}" is not the address of a server${suggestionFor(text)}`)
  if (url.username || url.password)
    throw new UsageError('the address of a server must have no user name or password: leave them out, and log in')
  return `${url.origin}${trimEndMatching(url.pathname, /\//)}`
}

/** The same; where the service has moved since the address was last used, its present address. */
export const serverAddress = (option: string | undefined, env: EnvironmentVariables): string =>
  presentAddress(configDir(env), givenAddress(option, env))

/** Whether requests to `server` cross a network without encryption. */
export const isUnencrypted = (server: string): boolean => {
  const { protocol, hostname } = new URL(server)
  return protocol === 'http:' && !isLoopback(hostname)
}
