import { Command } from 'commander'
import { runCommand } from '../../cli/exit.ts'
import type { Options } from './run/verify.ts'

const help = `
Compares every event of the log with its leaf in the Merkle tree, and the tree with the newest signed checkpoint
and with the one that was kept at the last time. Names each event that was changed, removed, inserted, moved or
put into another order. Reads the database of the service, and changes nothing there; a service may go on.

  tracebook audit verify                                 the log of DATABASE_URL, or of DATA_DIR
  tracebook audit verify --server https://traces.example.org   by the API: that the log continues what was kept
  tracebook audit verify --offline bundle.json           what \`tracebook audit proof\` printed, without any service

The newest checkpoint is kept in the configuration folder, for the next time, by the id of the log, its origin and the
addresses that it was served at. Keep a copy elsewhere: who can change the database may be able to change this folder,
too. At the first time nothing is there to compare with, which is said; with --require-kept nothing is checked then, so
that a script notices. A log with another id where one was kept before, at the same address or of the same origin, is
refused: it must be named with --accept-log, and a new key of it with --accept-key.

The newest checkpoint must be signed by the key that --key names, else by that of AUDIT_KEY, AUDIT_KEY_FILE or DATA_DIR,
else by the one that signed the checkpoint that was kept. A key that has replaced another one, and a former one that was
not known at the last time, must be named with --accept-key.

Events that were lost with the end of the log, after a failover or with a backup, are named. When the service
misses them it says what was lost, in a line of its log; --accept-lost with the word \`accept\` of that line says
that you know of it: exactly these events may be missing then.

With --json, stdout holds one JSON document a line: {"type":"finding","kind",…} for each finding, then
{"type":"verified"|"refused",…}.

Environment:
  DATABASE_URL          the database of the service
  DATA_DIR              without DATABASE_URL: the folder of a service, whether it runs or not (default: data)
  AUDIT_KEY, AUDIT_KEY_FILE  the key of the service, if it is set there
  EVENTSTORE_URL        the log, for a service that has it there
  TRACEBOOK_CONFIG_DIR  the folder for what is kept, instead of the platform's own

Exit codes:
  0  all is as it should be
  1  it could not be checked
  2  wrong usage; with --server also: not logged in
  3  something is not as it should be
  4  nothing was kept before, and --require-kept was given`

const collect = (value: string, before: readonly string[]) => [...before, value]

/** `tracebook audit verify` */
export const verifyCommand = (): Command =>
  new Command('verify')
    .description('Check the log against its Merkle tree and its signed checkpoints, or a bundle against its key')
    .option('--server [url]', 'check a service by its API (default: $TRACEBOOK_URL, else that of the last login)')
    .option('--offline <bundle>', 'check a bundle of `tracebook audit proof`, without any service')
    .option('--key <key>', 'the public key of the log, as you know it: <name>+<hash>+<base64>')
    .option('--accept-key <key>', 'a key that has replaced another one, or was replaced; may be repeated', collect, [])
    .option(
      '--accept-log <id>',
      'a log that has the address or the origin of another one; may be repeated',
      collect,
      [],
    )
    .option('--require-kept', 'refuse a log of which nothing was kept before')
    .option('--accept-lost <loss>', 'what the service said that the log has lost; may be repeated', collect, [])
    .option('--json', 'JSON on stdout, a document a line')
    .addHelpText('after', help)
    .action((options: Options) =>
      runCommand(async () => (await import('./run/verify.ts')).verify(options), options.json),
    )
