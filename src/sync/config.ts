import { join } from 'node:path'
import envPaths from 'env-paths'
import type { Environment } from './agents/agent.ts'
import { UsageError } from '../cli/exit.ts'
import { withoutEnd } from '../text-ends.ts'

const localServer = 'http://127.0.0.1:3000'
const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** The folder of the user's tokens and of what was uploaded: `TRACEBOOK_CONFIG_DIR`, else the platform's place for it. */
export const configFolder = (env: Environment): string =>
  env['TRACEBOOK_CONFIG_DIR'] || envPaths('tracebook', { suffix: '' }).config

/**
 * The server's base address without a trailing slash, so that one server has one spelling: `given`, else `TRACEBOOK_URL`,
 * else the local one. Throws UsageError for what is no http(s) address, and for one with a password in it.
 */
export const serverAddress = (given: string | undefined, env: Environment): string => {
  const text = given ?? (env['TRACEBOOK_URL'] || localServer)
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`"${text}" is no http:// or https:// address`)
  if (url.username || url.password) throw new UsageError('the server address must not hold a user name or a password')
  return `${url.origin}${withoutEnd(url.pathname, /\//)}`
}

/** Whether `hostname` (as URL has it) means this machine. */
export const isLoopback = (hostname: string): boolean => loopback.test(hostname)

/** Whether what is sent to `server` can be read on the way. */
export const isExposed = (server: string): boolean => {
  const { protocol, hostname } = new URL(server)
  return protocol === 'http:' && !isLoopback(hostname)
}

/** The file that holds a server's credentials; one per server, so that a token never meets another server. */
export const credentialsFolder = (config: string): string => join(config, 'servers')
