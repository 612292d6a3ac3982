import { Command } from 'commander'
import { addCommand } from './devices/add.ts'
import { listCommand } from './devices/list.ts'
import { renameCommand } from './devices/rename.ts'
import { removeCommand } from './devices/remove.ts'

/** `tracebook devices`: the machines and accounts that sign in as the user. Without a subcommand they are listed. */
export const devicesCommand = (): Command =>
  new Command('devices')
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(addCommand())
    .addCommand(renameCommand())
    .addCommand(removeCommand())
