import { join } from 'node:path'
import type { EnvironmentVariables } from '../agent.ts'

/** The folders in which apps keep their data on macOS, Linux and Windows, whichever is there. */
export const appFolders = ({ XDG_CONFIG_HOME, APPDATA }: EnvironmentVariables, home: string): readonly string[] => [
  join(home, 'Library', 'Application Support'),
  XDG_CONFIG_HOME || join(home, '.config'),
  APPDATA || join(home, 'AppData', 'Roaming'),
]
