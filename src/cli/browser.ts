import open from 'open'
import { io } from './io.ts'

/** How long to wait for a started browser to fail. */
const START_MS = 1_500

/** Whether there may be a browser: not on Linux without a display, for example over SSH. */
const mayHaveBrowser = (env: Readonly<Record<string, string | undefined>>): boolean =>
  process.platform !== 'linux' ||
  ['DISPLAY', 'WAYLAND_DISPLAY', 'WSL_DISTRO_NAME', 'BROWSER'].some((name) => Boolean(env[name]))

/** Opens a page in the user's browser. False if there is none, or it could not be started. */
export const openInBrowser = async (url: string): Promise<boolean> => {
  if (!mayHaveBrowser(io().env)) return false
  try {
    const child = await open(url)
    if (child.exitCode !== null) return child.exitCode === 0
    const { promise, resolve } = Promise.withResolvers<boolean>()
    child.once('error', () => resolve(false)).once('exit', (code) => resolve(code === 0))
    const timer = setTimeout(() => resolve(true), START_MS)
    return await promise.finally(() => clearTimeout(timer))
  } catch {
    return false
  }
}
