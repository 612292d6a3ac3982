import { Command } from 'commander'
import { runCommand } from '../cli/exit.ts'
import { environmentHelp } from './log/environment-help.ts'
import type { ListOptions, RemoveOptions } from './run/users.ts'

const listHelp = `
All users of a service, from its database, for its operators: how they sign in, the namespaces that
they are members of, when they were last there, and how many traces they have uploaded, with the
characters of their messages (as QUOTA_BYTES counts). Those with the most come first.
"tracebook namespaces --all" lists what namespaces hold.

A line of --json: user {id, displayName}, identities [{id, type, login, email, emailVerified}],
namespaces [{id, slug, role}], traces, bytes, and lastUsedAt in milliseconds. What is not known is
left out.

Examples:
  tracebook users
  tracebook users --json

${environmentHelp}

Exit codes:
  0  listed
  1  the log or the database could not be read
  2  wrong usage`

const removeHelp = `
Takes a user out of the service. Every device and account by which they sign in is removed: their
sessions end, on all nodes within a second. They are removed from all namespaces, and the open invites
that they have made are revoked. In the log these are events without an actor, which timelines show
as done by the service.

Traces stay, and so does their own namespace, to which nobody can sign in any more: public traces can
be read on. Where they were the last admin of a namespace with others, it has no admin any more, and
that is said. Whoever signs in by the same device or account afterwards is somebody new, without any
of this; whether that is possible is up to SIGN_UP. It cannot be taken back. Repeating it does no harm.

You are asked first; without a terminal nobody can be asked, and --yes is needed.

A line of --json, of type "removed": user {id}, identities (how many were removed), left and stays
[{id, slug, role}]: the namespaces that they have left, and those whose last admin they are, with
others, the number of other members.

Examples:
  tracebook users remove 7c9e6679
  tracebook users remove 7c9e6679-7425-40de-944b-e07fc1f90ae7 --yes --json

${environmentHelp}

Exit codes:
  0  the user is out, also where they were before
  1  failed: run it again
  2  wrong usage, no such user, or not agreed: nothing was changed`

const removeCommand = (): Command =>
  new Command('remove')
    .description('Take a user out of the service')
    .argument('<user>', 'the user: the id, or the beginning of it, of four characters or more')
    .option('-y, --yes', 'agree without being asked')
    .option('--json', 'one JSON document a line')
    .addHelpText('after', removeHelp)
    .action(function (this: Command, user: string) {
      // Options of the parent are found there, also where they stand behind the name of this command.
      const options = this.optsWithGlobals<RemoveOptions>()
      return runCommand(async () => (await import('./run/users.ts')).remove(user, options), options.json)
    })

/** `tracebook users`, for operators. */
export const usersCommand = (): Command =>
  new Command('users')
    .option('--json', 'one JSON document a line')
    .addHelpText('after', listHelp)
    .action((options: ListOptions) =>
      runCommand(async () => (await import('./run/users.ts')).list(options), options.json),
    )
    .addCommand(removeCommand())
