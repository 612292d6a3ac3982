import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  removeWithFolders,
  requireManager,
  runManager,
  type ServiceManager,
  type ServicePlace,
  type ServiceProgram,
  type ServiceStatus,
  writeDescription,
} from './service.ts'

const UNIT = 'tracebook-watch.service'

/** A word in a unit: `%` begins a specifier there, and in a command `$` a variable. */
const quoted = (text: string): string =>
  `"${text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t').replaceAll('%', '%%')}"`

const commandLine = (command: readonly string[]): string =>
  command.map((word) => quoted(word).replaceAll('$', '$$$$')).join(' ')

/** `RestartSec` is also how long a service that is not logged in waits until it looks again. */
const describe = ({
  command,
  environment,
}: ServiceProgram): string => `# Written by "tracebook watch install". To remove it: tracebook watch uninstall
[Unit]
Description=Tracebook: uploads the sessions of coding agents as they are written
StartLimitIntervalSec=0

[Service]
ExecStart=${commandLine(command)}
${Object.entries(environment)
  .map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}\n`)
  .join('')}Restart=on-failure
RestartSec=30
TimeoutStopSec=10
Nice=10
IOSchedulingClass=idle
NoNewPrivileges=true

[Install]
WantedBy=default.target
`

const PROPERTIES = ['LoadState', 'ActiveState', 'SubState', 'MainPID'] as const

/** `systemctl show` says one property a line, as `Name=value`. */
const statusOf = (out: string): ServiceStatus => {
  const found = new Map(out.split('\n').map((line) => [line.split('=', 1)[0]!, line.slice(line.indexOf('=') + 1)]))
  const pid = Number(found.get('MainPID'))
  return {
    isRunning: found.get('ActiveState') === 'active',
    pid: pid > 0 ? pid : undefined,
    state: `${found.get('ActiveState') || 'unknown'} (${found.get('SubState') || 'unknown'})`,
  }
}

/** A service of the user's own systemd. */
export const systemd = (place: ServicePlace): ServiceManager => {
  const units = join(place.env['XDG_CONFIG_HOME'] || join(place.home, '.config'), 'systemd', 'user')
  const file = join(units, UNIT)
  const wants = join(units, 'default.target.wants')
  const systemctl = (...args: readonly string[]) => runManager('systemctl', ['--user', ...args], place)
  const required = (...args: readonly string[]) => requireManager('systemctl', ['--user', ...args], place)
  const remove = async () => {
    await rm(join(wants, UNIT), { force: true })
    await removeWithFolders(file, [wants]).then(() =>
      removeWithFolders(file, [units, dirname(units), dirname(dirname(units))]),
    )
  }
  return {
    name: 'systemd',
    file,
    log: `journalctl --user --unit ${UNIT}`,
    describe,
    install: async (program) => {
      const wasThere = existsSync(file)
      await writeDescription(file, describe(program))
      try {
        await required('daemon-reload')
        await required('enable', UNIT)
        await required('restart', UNIT)
      } catch (error) {
        if (!wasThere) await remove()
        throw error
      }
    },
    uninstall: async () => {
      if (!existsSync(file)) return false
      // Without a systemd that answers, its files go all the same.
      const ignored = () => undefined
      await systemctl('disable', '--now', UNIT).catch(ignored)
      await remove()
      await systemctl('daemon-reload').catch(ignored)
      await systemctl('reset-failed', UNIT).catch(ignored)
      return true
    },
    status: async () => {
      if (!existsSync(file)) return undefined
      const { code, out, err } = await systemctl('show', UNIT, `--property=${PROPERTIES.join(',')}`)
      return code === 0 ? statusOf(out) : { isRunning: false, pid: undefined, state: err.trim() || 'unknown' }
    },
  }
}
