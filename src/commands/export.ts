import { Command, Option } from 'commander'
import { clientCommand } from './support/client-command.ts'
import { idHelp } from './support/id-help.ts'
import type { Help } from './support/help.ts'
import type { Options } from './run/export.ts'

export const formats = ['md', 'html', 'json'] as const

export type Format = (typeof formats)[number]

const help: Help = {
  about: `
Writes one session as a file: Markdown or a page of HTML to read, JSON to be imported again.
Public sessions need no login. A file is there only when all of it is; only its owner can read it.

With --all it writes a file for each session of your namespace, or of the one of --namespace, that is yours;
for an admin for each that is there. A file is named after the id of its session, as far as a file system
takes it. Run it again to go on, or to write what is new: a file whose session has not changed since is skipped.

${idHelp} The past of a trace is asked for by its whole id.`,
  examples: [
    ['tracebook export 0192f0c1 --output session.html', 'a page to read'],
    ['tracebook export 0192f0c1 --format json > session.json'],
    ['tracebook export 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b --at 2026-01-31T12:00:00Z', 'as it was then'],
    ['tracebook export 0192f0c1 -o session.json --json', 'tell a script what was written'],
    ['tracebook export --all backup --format json', 'all of yours, to be imported again'],
  ],
  documents: [
    ['{"type":"export","externalId","format","file","bytes"}', 'needs --output or --all'],
    ['{"type":"failed","externalId","file","message"}', 'with --all: this one is not written'],
    ['{"type":"summary","exported","skipped","failed","others","exitCode"}', 'with --all, the last one'],
    ['    skipped: unchanged since they were written; others: of other members, not written'],
  ],
  exitCodes: {
    0: 'the whole session was written, or all of them',
    1: 'the server refused, or the transfer broke off; with --all of one session, the others are written',
    2: 'wrong usage, not logged in, or there is no such trace, or was not then',
  },
}

/** `tracebook export`: writes sessions as Markdown, HTML or JSON. Output and exit codes in its help. */
export const exportCommand = (): Command =>
  clientCommand<Options, [string | undefined]>(
    new Command('export')
      .argument('[id]', 'the session: its id, the beginning of one, or a link')
      .option('--all <folder>', 'write all sessions of yours, each as a file in this folder')
      .addOption(
        new Option('--format <format>', 'what to write (default: by the name of the file, else md)').choices(formats),
      )
      .option('-o, --output <file>', 'the file to write (default: standard output)')
      .option('--revision <revision>', 'as it was after this revision, for members of its namespace')
      .option('--at <time>', 'as it was at this time (ISO 8601 with a zone, or milliseconds since 1970)'),
    {
      help,
      namespace: 'the namespace that the session is in',
      run: async (...args) => (await import('./run/export.ts')).exportTrace(...args),
    },
  )
