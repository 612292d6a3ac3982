import { Argument, Command } from 'commander'
import type { Role } from '../sync/api/namespaces.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'
import { roles } from './support/roles.ts'
import type { RemoveOptions } from './run/members.ts'

const userHelp = 'A member is named by user id, by the beginning of one (four characters or more), or by name.'

const document = ['{"type":"member","namespace","member"}', 'a member, as the API shows it'] as const

const listHelp: Help = {
  about: `
Lists the members of your namespace, or with --namespace of another one. Its admins change roles and
remove members; "tracebook invite" brings new ones in.`,
  examples: [
    ['tracebook members', 'of the namespace of your login'],
    ['tracebook members --namespace team --json', 'for scripts'],
    ['tracebook members role Ada admin --namespace team', 'make Ada an admin'],
    ['tracebook members remove Ada --namespace team'],
  ],
  documents: [document],
}

const roleHelp: Help = {
  about: `
Gives a member another role. An admin may change members, invites, the namespace and all its traces; a
member only what is their own. At least one admin is left.

${userHelp}`,
  examples: [
    ['tracebook members role Ada admin --namespace team'],
    ['tracebook members role 7c9e6679 member --namespace team --json', 'for scripts'],
  ],
  documents: [document],
}

const removeHelp: Help = {
  about: `
Takes a member out of a namespace, for its admins; or yourself, which is how you leave. The rights of the
member end at once, and the open invites that the member made are revoked; traces stay. You are asked
first; without a terminal nobody can be asked, and --yes is needed.

${userHelp}`,
  examples: [
    ['tracebook members remove Ada --namespace team'],
    ['tracebook members remove 7c9e6679 --namespace team --yes --json', 'in a script'],
  ],
  documents: [['{"type":"removed","namespace","userId"}', 'the one who was removed']],
}

const NAMESPACE = 'the namespace (default: the one of your login)'

const userArgument = (): Argument => new Argument('<user>', 'the member: user id, the beginning of one, or name')

const roleCommand = (): Command =>
  clientCommand<ClientOptions, [string, Role]>(
    new Command('role')
      .description('Give a member another role')
      .addArgument(userArgument())
      .addArgument(new Argument('<role>', 'the role from now on').choices(roles)),
    {
      help: roleHelp,
      namespace: NAMESPACE,
      run: async (...args) => (await import('./run/members.ts')).changeRole(...args),
    },
  )

const removeCommand = (): Command =>
  clientCommand<RemoveOptions, [string]>(
    new Command('remove')
      .description('Take a member out, or leave')
      .addArgument(userArgument())
      .option('-y, --yes', 'agree without being asked'),
    {
      help: removeHelp,
      namespace: NAMESPACE,
      run: async (...args) => (await import('./run/members.ts')).remove(...args),
    },
  )

/** `tracebook members`: lists and changes the members of a namespace. Output and exit codes in its help. */
export const membersCommand = (): Command =>
  clientCommand<ClientOptions>(new Command('members'), {
    help: listHelp,
    namespace: NAMESPACE,
    run: async (...args) => (await import('./run/members.ts')).list(...args),
  })
    .addCommand(roleCommand())
    .addCommand(removeCommand())
