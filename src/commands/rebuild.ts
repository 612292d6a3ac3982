import { Command } from 'commander'
import { runCommand } from '../cli/exit.ts'
import type { Group } from '../engine/group.ts'

const help = `
Uses DATABASE_URL, or the service that runs on DATA_DIR. Nothing stops meanwhile.

Examples:
  tracebook rebuild`

/** `tracebook rebuild`: builds new read models from the log while the old ones serve, then swaps them. */
export const rebuildCommand = (groups?: readonly Group[]): Command =>
  new Command('rebuild')
    .argument('[group]', 'which read models: main or timeline (default: all, one after the other)')
    .addHelpText('after', help)
    .action((name?: string) => runCommand(async () => (await import('./run/rebuild.ts')).rebuildGroups(name, groups)))
