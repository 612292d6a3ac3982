import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

const mayRun = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The path of a Chromium: the one that `CHROMIUM` names, or the first in `PATH`. */
export const findChromium = (): string | undefined =>
  process.env.CHROMIUM ||
  NAMES.flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name))).find(mayRun)

/** Starts a Chromium without a window. Containers have no namespaces for its sandbox, and what it is shown is ours. */
export const startChromium = (path: string): Promise<Browser> =>
  chromium.launch({ executablePath: path, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] })
