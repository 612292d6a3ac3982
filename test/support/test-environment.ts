import { homedir } from 'node:os'
import { join } from 'node:path'

/** Variables of the caller that tests get: the machine's, those of Node and npm, and those that are meant for tests. */
const PASSED_ON = [
  /^(?:PATH|LANG|LC_\w+|TZ|TERM|SHELL|USER|LOGNAME|CI|LD_LIBRARY_PATH)$/,
  /^(?:https?|no|all)_proxy$/i,
  /^(?:NODE_|npm_|SSL_CERT_)/,
  /^(?:TEST_|FAULT|UPDATE_)/,
  /^(?:CHROMIUM|SCREENSHOTS)$/,
]

/**
 * The environment of a test process. Everything that tells a program where its user's files are, or what its user prefers, is left out:
 * so tests neither read nor write what the developer has, such as a login, the sessions of agents, or a configuration of git. `home`
 * takes the place of the developer's home folder. Only npm still finds its registry, and its cache, there.
 */
export const testEnvironment = (
  caller: Readonly<Record<string, string | undefined>>,
  home: string,
): Readonly<Record<string, string | undefined>> => ({
  npm_config_userconfig: join(homedir(), '.npmrc'),
  npm_config_cache: join(homedir(), '.npm'),
  ...Object.fromEntries(Object.entries(caller).filter(([name]) => PASSED_ON.some((pattern) => pattern.test(name)))),
  HOME: home,
  GIT_CONFIG_NOSYSTEM: '1',
})
