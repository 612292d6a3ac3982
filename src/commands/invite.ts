import { Command, InvalidArgumentError, Option } from 'commander'
import { secretHelp } from '../cli/secret.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'
import { roles } from './support/roles.ts'
import type { MakeOptions } from './run/invite.ts'

const document = ['{"type":"invite","namespace","invite"}', 'an invite, as the API shows it to admins'] as const

const makeHelp: Help = {
  about: `
Makes an invite to your namespace, or with --namespace to another one, for its admins. Send the command
that is printed to whom you invite: the code in it lets them in, for 24 hours and once, or as often as
--uses says. With --email only a user with that address, verified by the code host, may accept.`,
  examples: [
    ['tracebook invite --namespace team'],
    ['tracebook invite --namespace team --role admin --email ada@example.org'],
    ['tracebook invite --namespace team --uses 0', 'as many as have the code'],
    ['tracebook invite --namespace team --json', 'for scripts'],
    ['tracebook invite accept a1B2c3D4e', 'join by an invite'],
  ],
  documents: [document],
}

const listHelp: Help = {
  about:
    'Lists the invites of a namespace that can still be accepted, for its admins; with --all also those that are over.',
  examples: [['tracebook invite ls --namespace team'], ['tracebook invite ls --namespace team --all --json']],
  documents: [document],
}

const revokeHelp: Help = {
  about: 'Takes an invite back, for the admins of its namespace: its code stops working. Who has joined by it stays.',
  examples: [
    ['tracebook invite revoke a1B2c3D4e --namespace team'],
    ['tracebook invite revoke a1B2c3D4e --namespace team --json', 'for scripts'],
  ],
  documents: [['{"type":"revoked","namespace","code"}', 'the invite that was taken back']],
}

const acceptHelp: Help = {
  about: `
Makes you a member of the namespace that an invite leads to. The invite is named by its code, or by a link
that ends with the code. Who has no user at the server yet logs in with it: tracebook login --invite CODE
On a terminal you are asked for a name, if you have none, by which the other members know you.

${secretHelp('TRACEBOOK_INVITE_CODE')}`,
  examples: [
    ['tracebook invite accept a1B2c3D4e'],
    ['tracebook invite accept', 'asks for the code'],
    ['tracebook invite accept https://traces.example.org/invite/a1B2c3D4e'],
    ['tracebook invite accept a1B2c3D4e --json', 'for scripts'],
  ],
  documents: [['{"type":"joined","namespace"}', 'the namespace, with your role in it']],
}

const usesOf = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number; 0: any number.')
  return Number(text)
}

const listCommand = (): Command =>
  clientCommand<ClientOptions & { readonly all?: boolean }>(
    new Command('ls').description('List the invites of a namespace').option('--all', 'also those that are over'),
    { help: listHelp, run: async (...args) => (await import('./run/invite.ts')).list(...args) },
  )

const revokeCommand = (): Command =>
  clientCommand<ClientOptions, [string]>(
    new Command('revoke').description('Take an invite back').argument('<code>', 'the invite: its code, or its link'),
    { help: revokeHelp, run: async (...args) => (await import('./run/invite.ts')).revoke(...args) },
  )

const acceptCommand = (): Command =>
  clientCommand<ClientOptions, [string | undefined]>(
    new Command('accept')
      .description('Join a namespace by an invite')
      .argument('[code]', 'the invite: its code, or its link; -: read it'),
    { help: acceptHelp, namespace: false, run: async (...args) => (await import('./run/invite.ts')).accept(...args) },
  )

/** `tracebook invite`: makes, lists, revokes and accepts invites. Output and exit codes in its help. */
export const inviteCommand = (): Command =>
  clientCommand<MakeOptions>(
    new Command('invite')
      .addOption(new Option('--role <role>', 'the role of who accepts (default: member)').choices(roles))
      .option('--email <address>', 'only a user with this address may accept')
      .option('--uses <count>', 'how many may accept; 0: any number (default: 1)', usesOf),
    { help: makeHelp, run: async (...args) => (await import('./run/invite.ts')).make(...args) },
  )
    .addCommand(listCommand())
    .addCommand(revokeCommand())
    .addCommand(acceptCommand())
