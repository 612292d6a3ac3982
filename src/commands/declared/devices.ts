import { Command } from 'commander'
import { clientCommand, yesOption } from './command.ts'
import { shortName } from './values.ts'

const idHelp = `Name the device by its id, or by a prefix of its id that no other device of yours has, as
"tracebook devices" shows it.`

const idArgument = ['<id>', 'the device: its id, or a prefix of its id'] as const

const list = (): Command =>
  clientCommand(new Command('list').description('List the devices and accounts that sign in as you (default)'), {
    help: {
      about: `
Lists the devices and accounts that sign in as you, oldest first; a star marks this device. A device has
the name of its host until "tracebook devices rename" changes it. "tracebook devices add" adds a device,
"tracebook devices remove" removes one.`,
      examples: [['tracebook devices'], ['tracebook devices --json']],
      documents: [
        [
          '{"type":"device","id","kind","login"?,"name"?,"names","sessions","lastUsedAt"?,"current"}',
          'kind: device, codehost',
        ],
      ],
    },
    namespace: false,
    load: async () => (await import('../devices.ts')).list,
  })

const add = (): Command =>
  clientCommand(new Command('add').description('Create a code with which another machine becomes a device of yours'), {
    help: {
      about: `
Creates a one-time code with which another machine becomes a device of yours: it then acts as you, with all
your rights. The code works once, for ten minutes, and only while this machine is logged in. Do not give it
to other people; to work with them, invite them to a namespace.`,
      examples: [
        ['tracebook devices add', 'prints the command to run on the other machine'],
        ['tracebook devices add --json | jq -r .code', 'the code alone, for scripts'],
      ],
      documents: [['{"type":"code","server","code","expiresAt","command"}', 'expiresAt in milliseconds']],
    },
    namespace: false,
    load: async () => (await import('../devices.ts')).add,
  })

const rename = (): Command =>
  clientCommand(
    new Command('rename')
      .description('Name a device or an account')
      .argument(...idArgument)
      .argument('<name>', 'its new name', shortName),
    {
      help: {
        about: `
Gives a device or an account of yours a name, instead of that of its host. Only you see it.

${idHelp}`,
        examples: [
          ['tracebook devices rename 0192f0c1 "laptop at home"'],
          ['tracebook devices rename 0192f0c1 laptop --json', 'for scripts'],
        ],
        documents: [['{"type":"renamed","id","name"}', 'the device with its new name']],
      },
      namespace: false,
      load: async () => (await import('../devices.ts')).rename,
    },
  )

const remove = (): Command =>
  clientCommand(
    new Command('remove')
      .description('Sign a device or an account out for good')
      .argument(...idArgument)
      .addOption(yesOption()),
    {
      help: {
        about: `
Ends all sessions of a device or an account at once, and it can no longer sign in as you: for a machine
that was lost or given away. What it uploaded stays. The last device cannot be removed. You are asked to
confirm first; without a terminal, --yes is required.

${idHelp}`,
        examples: [
          ['tracebook devices remove 0192f0c1'],
          ['tracebook devices remove 0192f0c1 --yes --json', 'for scripts'],
        ],
        documents: [['{"type":"removed","id","names","current"}', 'current: whether it was this device']],
      },
      namespace: false,
      load: async () => (await import('../devices.ts')).remove,
    },
  )

/** Without a subcommand the devices are listed. */
const devices = (): Command =>
  new Command('devices')
    .addCommand(list(), { isDefault: true })
    .addCommand(add())
    .addCommand(rename())
    .addCommand(remove())

export const deviceCommands = { devices }
