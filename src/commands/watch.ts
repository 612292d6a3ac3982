import { Command } from 'commander'
import { clientEnvironment } from './client-environment.ts'
import { clientCommand } from './support/client-command.ts'
import { type Help, helpText } from './support/help.ts'

const help: Help = {
  about: `
Has the system run "sync --watch" in the background from now on, at low priority: as a systemd user unit on
Linux, as a launchd agent on macOS. It is started again when it fails, and waits for a login where there is none.

The paths of Node.js and of Tracebook, and the variables that say where sessions and settings are, are noted at
the install: run it again when they change. Secrets are always taken out. On Linux the unit ends when you log
out; "loginctl enable-linger" keeps it.`,
  examples: [
    ['tracebook watch install', 'for the server of TRACEBOOK_URL'],
    ['tracebook watch install --server https://traces.example.org --namespace my-team'],
    ['tracebook watch status'],
    ['tracebook watch uninstall', 'leaves nothing behind'],
  ],
  documents: [
    ['{"type":"watch","server","installed","running","manager"?,"state"?,"file"?,"log"?,"watcher"?:{"pid","since"}}'],
    ['    running: whether the sessions of this machine are watched for the server, by whatever process'],
  ],
  environment: clientEnvironment,
  exitCodes: {
    0: 'all is well; of status: the sessions of this machine are watched',
    1: 'of status: they are not; of install: the system has no service manager',
    2: 'wrong usage, or not logged in',
  },
}

type Part = 'install' | 'status' | 'uninstall'

/** `tracebook watch`: the service of the user that runs `sync --watch`. */
export const watchCommand = (): Command => {
  const part = (name: Part, description: string, namespace: string | false = false) =>
    clientCommand(new Command(name).description(description), {
      help,
      namespace,
      run: async (...args) => (await import('./run/watch.ts'))[name](...args),
    })
  return new Command('watch')
    .addHelpText('after', helpText(help))
    .addCommand(
      part(
        'install',
        'Have the system upload sessions as they are written',
        'the namespace to upload to (default: the one of your login)',
      ),
    )
    .addCommand(part('status', 'Say whether it is installed, and running'))
    .addCommand(part('uninstall', 'End it, and remove all that install has made'))
}
