import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { LOG_FILE } from '../log-file.ts'
import {
  removeWithFolders,
  requireManager,
  runManager,
  type ServiceManager,
  type ServicePlace,
  type ServiceProgram,
  writeDescription,
} from './service.ts'

const LABEL = 'tracebook.watch'

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const string = (text: string): string => `<string>${escaped(text)}</string>`

/** launchd lets the files grow to which it sends output: the service writes a bounded one itself. */
const describe = (
  { command, environment }: ServiceProgram,
  logFile: string,
): string => `<?xml version="1.0" encoding="UTF-8"?>
<!-- Written by "tracebook watch install". To remove it: tracebook watch uninstall -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  ${string(LABEL)}
  <key>ProgramArguments</key>
  <array>
${[...command, '--log-file', logFile].map((word) => `    ${string(word)}\n`).join('')}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries(environment)
  .map(([name, value]) => `    <key>${escaped(name)}</key>\n    ${string(value)}\n`)
  .join('')}  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>30</integer>
  <key>ProcessType</key>
  <string>Background</string>
  <key>Nice</key>
  <integer>10</integer>
  <key>LowPriorityIO</key>
  <true/>
  <key>StandardOutPath</key>
  <string>/dev/null</string>
  <key>StandardErrorPath</key>
  <string>/dev/null</string>
</dict>
</plist>
`

/** An agent of the user's own launchd. `uid` is the number of the user. */
export const launchd = (place: ServicePlace, uid: number): ServiceManager => {
  const file = join(place.home, 'Library', 'LaunchAgents', `${LABEL}.plist`)
  const logFile = join(place.state, LOG_FILE)
  const [domain, target] = [`gui/${uid}`, `gui/${uid}/${LABEL}`]
  const launchctl = (...args: readonly string[]) => runManager('launchctl', args, place)
  const described = (program: ServiceProgram) => describe(program, logFile)
  return {
    name: 'launchd',
    file,
    log: logFile,
    describe: described,
    install: async (program) => {
      const wasThere = existsSync(file)
      await writeDescription(file, described(program))
      try {
        if (wasThere) await launchctl('bootout', target)
        await requireManager('launchctl', ['enable', target], place)
        await requireManager('launchctl', ['bootstrap', domain, file], place)
      } catch (error) {
        if (!wasThere) await removeWithFolders(file, [dirname(file)])
        throw error
      }
    },
    uninstall: async () => {
      if (!existsSync(file)) return false
      await launchctl('bootout', target).catch(() => undefined)
      await removeWithFolders(file, [dirname(file)])
      for (const log of [logFile, `${logFile}.1`]) await rm(log, { force: true })
      return true
    },
    status: async () => {
      if (!existsSync(file)) return undefined
      const { code, out, err } = await launchctl('print', target)
      const pid = Number(/^[ \t]*pid = (\d+)/m.exec(out)?.[1])
      const state = code === 0 ? (/^[ \t]*state = (.+)$/m.exec(out)?.[1] ?? 'unknown') : err.trim() || 'not loaded'
      return { isRunning: pid > 0, pid: pid > 0 ? pid : undefined, state }
    },
  }
}
